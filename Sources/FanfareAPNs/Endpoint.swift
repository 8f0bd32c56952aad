/// Where pushes go: APNs, or a server that behaves like it.
package struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    package var host: String
    package var port: UInt16
    /// PEM with the certificates to trust; `nil` for the system's trust store.
    package var caFile: String?
    /// The name the certificate must be for, where it differs from `host`.
    package var serverName: String?

    package init(host: String, port: UInt16 = 443, caFile: String? = nil, serverName: String? = nil) {
        self.host = host
        self.port = port
        self.caFile = caFile
        self.serverName = serverName
    }

    package static let production = Endpoint(host: "api.push.apple.com")
    package static let sandbox = Endpoint(host: "api.sandbox.push.apple.com")

    /// The host without its port, as APNs' samples have it.
    var authority: String {
        let name = serverName ?? host
        return name.contains(":") ? "[\(name)]" : name
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
