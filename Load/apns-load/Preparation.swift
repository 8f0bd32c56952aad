import FanfareAPNs
import FanfareHTTP2
import FanfareLoop

#if canImport(Glibc)
@preconcurrency import Glibc
#endif

/// Writes equal pushes for the other clients: files for h2load and frames for `apns-floor`.
enum Preparation {
    /// Writes these files into the folder:
    ///
    ///     body       the request body
    ///     paths      one path a line
    ///     fields     one header field a line, `name: value`
    ///     opening    the beginning of our client's connection, including the first request
    ///     requests   its HEADERS and DATA frames for each token, as it sends them from then on
    static func write(_ workload: Workload, keyFile: String, host: String, to folder: String) throws {
        let body = try workload.body()
        let credentials = try ProviderToken(keyFile: keyFile, keyID: Workload.keyID, teamID: Workload.teamID)
        let token = try credentials.current(at: ConnectionPool.systemClock()).authorization
        let shared = [
            ("apns-topic", "\(Workload.bundleID).push-type.liveactivity"), ("apns-push-type", "liveactivity"),
            ("apns-priority", "10"),
        ]
        let expiration = try ("apns-expiration", "\(workload.expiration)")
        let fields = [("authorization", String(decoding: token, as: UTF8.self)), expiration] + shared
        try save(body, to: "\(folder)/body")
        try save(Array(fields.map { "\($0.0): \($0.1)\n" }.joined().utf8), to: "\(folder)/fields")

        let shape = RequestShape(authority: host, fields: shared.map { HeaderField($0.0, $0.1) })
        var authorization = LiteralFields()
        authorization.append(HeaderField(name: Array("authorization".utf8), value: token), secret: true)
        var others = LiteralFields()
        others.append(HeaderField(expiration.0, expiration.1))
        var requests: [UInt8] = []
        var paths: [UInt8] = []
        for first in stride(from: 0, to: workload.activities, by: requestsPerSession) {
            // No peer answers here, so each session sends as much as HTTP/2's initial window holds. Its opening teaches the peer the shared
            // fields; all later bytes are the same in every session.
            var session = ClientSession(configuration: .init())
            func request(_ number: Int) -> [UInt8] {
                session.request(
                    shape: shape, token: workload.token(number).span, authorization: authorization, fields: others,
                    body: body, tag: 0)
                let bytes = session.withOutput { Array($0) }
                session.take(bytes.count)
                return bytes
            }
            let opening = request(0)
            if first == 0 { try save(opening, to: "\(folder)/opening") }
            for number in first..<min(first + requestsPerSession, workload.activities) {
                requests += request(number)
                paths += Array("/3/device/".utf8) + hex(workload.token(number)) + [UInt8(ascii: "\n")]
            }
        }
        try save(requests, to: "\(folder)/requests")
        try save(paths, to: "\(folder)/paths")
    }

    private static let requestsPerSession = 65_535 / Workload.bodyBytes - 1

    private static func hex(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    private static func save(_ bytes: [UInt8], to path: String) throws {
        guard let file = fopen(path, "w") else { throw LoadError("\(path): cannot be written") }
        let written = bytes.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
        guard fclose(file) == 0, written == bytes.count else { throw LoadError("\(path): not all of it was written") }
    }
}
