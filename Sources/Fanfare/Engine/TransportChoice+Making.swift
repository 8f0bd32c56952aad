import FanfareAPNs

/// Invalid options, described in one line for people.
struct OptionsFault: Error, CustomStringConvertible {
    let description: String
}

extension TransportChoice {
    /// Limit on apps: each has its own threads and connections.
    private static let appsMax = 32

    /// Returns the factories of the transports: one per app, or a single one if nothing is sent to APNs.
    ///
    /// - Parameter shards: shards per app, which share its connections.
    /// - Throws: the fault of a key file or of the list of apps, in one line.
    package func makeFactories(shards: Int) throws -> [TransportFactory] {
        switch self {
        case .discard:
            return [{ loop, source, context in try DiscardTransport(loop: loop, source: source, clock: context.clock) }]
        case .fault(let seed):
            return [
                { loop, source, context in
                    FaultTransport(loop: loop, source: source, clock: context.clock, seed: seed)
                }
            ]
        case .apns(let first, let others):
            let all = [first] + others
            guard all.count <= TransportChoice.appsMax, Set(apps).count == all.count else {
                throw OptionsFault(description: "at most \(TransportChoice.appsMax) apps, and each of them once")
            }
            for options in all {
                if let fault = options.fault { throw OptionsFault(description: fault) }
            }
            var tokens: [(of: APNsOptions, token: ProviderToken)] = []
            return try all.map { options in
                // All apps that share a key share one provider token: APNs answers several on one connection with
                // `TooManyProviderTokenUpdates` (spec §9.2).
                let known = tokens.first { $0.of.hasKey(of: options) }?.token
                let token =
                    try known
                    ?? ProviderToken(keyFile: options.keyFile, keyID: options.keyID, teamID: options.teamID)
                if known == nil { tokens.append((options, token)) }
                var configuration = PoolConfiguration(
                    endpoint: Endpoint(host: options.host, port: options.port, caFile: options.caFile),
                    bundleID: options.bundleID, connections: options.connectionsPerShard)
                configuration.reach = options.reach
                configuration.quota = ConnectionQuota(most: options.connectionsMax, pools: shards)
                configuration.idlePingAfter = options.idlePingAfter
                return { [configuration] loop, source, context in
                    try ConnectionPool(
                        loop: loop, source: source, credentials: token, configuration: configuration,
                        clock: context.clock, proof: context.proof,
                        onReport: { context.report(others.isEmpty ? $0 : "\(options.app): \($0)") })
                }
            }
        }
    }
}

extension APNsOptions {
    /// Upper bound: more than a process may have open files.
    private static let connectionsPerShard = 1...65_536

    /// Fault that makes the options invalid whatever APNs says, with its remedy; `nil` if there is none.
    var fault: String? {
        let suffix = ".push-type."
        if let range = bundleID.firstRange(of: suffix) {
            return "bundle id \(bundleID): give \(bundleID[..<range.lowerBound]); the push type is added to it"
        }
        guard !bundleID.isEmpty, bundleID.utf8.count <= 155,
            bundleID.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") })
        else { return "bundle id \(bundleID): has letters, digits, - and . only, as com.example.scores" }
        guard reach > .zero, reach <= .seconds(3600), connectionsMax > 0,
            APNsOptions.connectionsPerShard.contains(connectionsPerShard ?? 1)
        else {
            return "bundle id \(bundleID): reach is more than zero and an hour at most, connectionsMax is 1 or more, "
                + "connectionsPerShard 1 to \(APNsOptions.connectionsPerShard.upperBound)"
        }
        guard idlePingAfter >= .seconds(1), idlePingAfter <= .seconds(3600) else {
            return "bundle id \(bundleID): idlePingAfter is a second at least and an hour at most"
        }
        guard teamID.isAppleIdentifier else {
            return "team id \(teamID): a team id has ten capital letters and digits, such as DEF123GHIJ"
        }
        if let keyID, !keyID.isAppleIdentifier {
            return "key id \(keyID): a key id has ten capital letters and digits, such as ABC123DEFG"
        }
        return nil
    }

    fileprivate func hasKey(of other: APNsOptions) -> Bool {
        keyFile == other.keyFile && keyID == other.keyID && teamID == other.teamID
    }
}

extension String {
    /// Is `true` for ids of keys and teams: ten capital letters and digits.
    fileprivate var isAppleIdentifier: Bool {
        utf8.count == 10 && utf8.allSatisfy { $0.isLetterOrDigit && !(UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0) }
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
