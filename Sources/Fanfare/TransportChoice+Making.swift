import FanfareAPNs
import FanfareCore

/// Options that make no sense, in one line for people.
struct TransportFault: Error, CustomStringConvertible {
    let description: String
}

extension TransportChoice {
    /// Every one has a thread and connections per shard.
    private static let appsMax = 32

    /// What makes the transports, one for each app; one where nothing is sent.
    ///
    /// - Throws: what is wrong with a key file, or with the apps, in one line.
    func makeFactories() throws -> [TransportFactory] {
        switch self {
        case .discard:
            return [{ loop, shard, report in try DiscardTransport(loop: loop, source: shard, report: report) }]
        case .fault(let seed): return [{ loop, shard, _ in FaultTransport(loop: loop, source: shard, seed: seed) }]
        case .apns(let first, let others):
            let all = [first] + others
            guard all.count <= TransportChoice.appsMax, Set(apps).count == all.count else {
                throw TransportFault(description: "at most \(TransportChoice.appsMax) apps, and each of them once")
            }
            var tokens: [(of: APNsOptions, token: ProviderToken)] = []
            return try all.map { options in
                // One provider token for all that share a key: APNs minds several on one connection (spec §9.2).
                let known = tokens.first { $0.of.hasKey(of: options) }?.token
                let token =
                    try known
                    ?? ProviderToken(keyFile: options.keyFile, keyID: options.keyID, teamID: options.teamID)
                if known == nil { tokens.append((options, token)) }
                return { loop, shard, report in
                    try ConnectionPool(
                        loop: loop, source: shard, credentials: token,
                        configuration: ConnectionPool.Configuration(
                            endpoint: Endpoint(host: options.host, port: options.port, caFile: options.caFile),
                            bundleID: options.bundleID, connections: options.connectionsPerShard),
                        onReport: { report(others.isEmpty ? $0 : "\(options.app): \($0)") })
                }
            }
        }
    }
}

extension APNsOptions {
    fileprivate func hasKey(of other: APNsOptions) -> Bool {
        keyFile == other.keyFile && keyID == other.keyID && teamID == other.teamID
    }
}
