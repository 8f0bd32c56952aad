/// Destination of pushes: APNs, or a server that behaves like it.
package struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    package var host: String
    package var port: UInt16
    /// PEM file with the trusted certificates; `nil` for the system's trust store.
    package var caFile: String?
    /// Name that the certificate must be valid for, if it differs from `host`.
    package var serverName: String?

    package init(host: String, port: UInt16 = 443, caFile: String? = nil, serverName: String? = nil) {
        self.host = host
        self.port = port
        self.caFile = caFile
        self.serverName = serverName
    }

    package static let production = Endpoint(host: "api.push.apple.com")
    package static let sandbox = Endpoint(host: "api.sandbox.push.apple.com")

    /// Host without its port, as in APNs' samples.
    var authority: String {
        let name = serverName ?? host
        return name.contains(":") ? "[\(name)]" : name
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
