/// Where pushes go: APNs, or a server that behaves like it.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    public var host: String
    public var port: UInt16
    /// PEM with the certificates to trust; `nil` for the system's trust store.
    public var caFile: String?
    /// The name the certificate must be for, where it differs from `host`.
    public var serverName: String?

    public init(host: String, port: UInt16 = 443, caFile: String? = nil, serverName: String? = nil) {
        self.host = host
        self.port = port
        self.caFile = caFile
        self.serverName = serverName
    }

    public static let production = Endpoint(host: "api.push.apple.com")
    public static let sandbox = Endpoint(host: "api.sandbox.push.apple.com")

    /// The host without its port, as APNs' samples have it.
    var authority: String {
        let name = serverName ?? host
        return name.contains(":") ? "[\(name)]" : name
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
