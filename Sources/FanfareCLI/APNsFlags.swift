import Fanfare
import FanfareFeeds
import FanfareModel

/// The APNs options of the command line, which are valid only together.
struct APNsFlags {
    enum Address { case offline(TransportChoice), apns(host: String, port: UInt16) }

    var address = Address.offline(.discard)
    var keyFile: String?
    var keyID: String?
    var teamID: String?
    var bundleID: String?
    var caFile: String?
    var connections: Int?
    var connectionsMax: Int?
    var reach: Duration?
    /// Further apps, beside the one of `address`.
    var others: [(app: AppID, host: String, port: UInt16)] = []

    /// Takes an option with its value.
    ///
    /// - Returns: `false` if the option is none of these.
    mutating func take(_ option: String, from arguments: inout Arguments) throws(UsageError) -> Bool {
        switch option {
        case "--transport":
            address = try arguments.value("discard, fault:SEED, or apns://HOST:PORT", Self.address)
        case "--key": keyFile = try arguments.text("a .p8 file")
        case "--key-id": keyID = try arguments.text("the key's id")
        case "--team-id": teamID = try arguments.text("the team's id")
        case "--bundle-id": bundleID = try arguments.text("the app's bundle id")
        case "--app":
            others.append(
                try arguments.value("BUNDLE[/development]=apns://HOST:PORT", Self.otherApp))
        case "--ca": caFile = try arguments.text("a PEM file")
        case "--connections": connections = try arguments.count(1...256)
        case "--connections-max": connectionsMax = try arguments.count(1...4096)
        case "--reach": reach = try arguments.value("seconds, such as 2", Self.reach)
        default: return false
        }
        return true
    }

    private static func otherApp(_ text: String) -> (app: AppID, host: String, port: UInt16)? {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let app = AppID(written: String(parts[0])),
            case .apns(let host, let port)? = address(String(parts[1]))
        else { return nil }
        return (app, host, port)
    }

    private static func address(_ text: String) -> Address? {
        if text == "discard" { return .offline(.discard) }
        if text.hasPrefix("fault:") { return UInt64(text.dropFirst(6)).map { .offline(.fault(seed: $0)) } }
        let scheme = "apns://"
        guard text.hasPrefix(scheme), let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...]), port > 0
        else { return nil }
        // The last colon may belong to the scheme.
        let start = text.index(text.startIndex, offsetBy: scheme.count)
        guard start < colon else { return nil }
        var host = text[start..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : .apns(host: String(host), port: port)
    }

    private static func reach(_ text: String) -> Duration? {
        Duration(seconds: text).flatMap { $0 > .zero && $0 <= .seconds(3600) ? $0 : nil }
    }

    /// Returns the transport that the options ask for.
    func transport() throws(UsageError) -> TransportChoice {
        let identity = [
            ("--key", keyFile), ("--key-id", keyID), ("--team-id", teamID), ("--bundle-id", bundleID),
        ]
        let host: String
        let port: UInt16
        switch address {
        case .apns(let apnsHost, let apnsPort): (host, port) = (apnsHost, apnsPort)
        case .offline(let transport):
            let given =
                identity + [
                    ("--ca", caFile), ("--connections", connections.map(String.init)),
                    ("--connections-max", connectionsMax.map(String.init)), ("--reach", reach.map { "\($0)" }),
                    ("--app", others.first.map(\.app.bundleID)),
                ]
            if let (name, _) = given.first(where: { $0.1 != nil }) {
                throw UsageError("\(name): only means something with --transport apns://HOST:PORT")
            }
            return transport
        }
        guard let keyFile, let teamID, let bundleID else {
            let missing = identity.filter { $0.1 == nil && $0.0 != "--key-id" }.map(\.0).joined(separator: ", ")
            throw UsageError("--transport apns://\(host):\(port): also needs \(missing)")
        }
        // The app's name is read as by `--app`. A name that is invalid is refused later, together with all other invalid options.
        let app = AppID(written: bundleID) ?? AppID(bundleID: bundleID, environment: .production)
        var apns = APNsOptions(
            host: host, port: port, caFile: caFile, keyFile: keyFile, keyID: keyID, teamID: teamID,
            bundleID: app.bundleID, environment: app.environment)
        guard connections == nil || connectionsMax == nil && reach == nil else {
            throw UsageError(
                "--connections: is kept whatever happens, so --connections-max and --reach mean nothing beside it")
        }
        apns.connectionsPerShard = connections
        if let connectionsMax { apns.connectionsMax = connectionsMax }
        if let reach { apns.reach = reach }
        return .apns(
            apns,
            others: others.map { other in
                var options = apns
                options.host = other.host
                options.port = other.port
                options.bundleID = other.app.bundleID
                options.environment = other.app.environment
                return options
            })
    }
}
