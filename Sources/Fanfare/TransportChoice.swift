import FanfareAPNs
public import FanfareModel

/// How pushes leave the engine.
public enum TransportChoice: Sendable, Equatable {
    /// Takes every delivery at once and reads every token byte: the engine without a network.
    case discard
    /// Like a bad network: late answers in another order, throttled, unprocessed and unanswered pushes, dead tokens, by the seed.
    case fault(seed: UInt64)
    /// Several apps, or one app in both environments, each with connections of its own: a token of one is of no use to another,
    /// and trouble of one is no reason for another to wait. The first is the one that is meant where none is named.
    case apns(APNsOptions, others: [APNsOptions] = [])

    /// In the order of the options; empty where nothing is sent.
    package var apps: [AppID] {
        guard case .apns(let first, let others) = self else { return [] }
        return ([first] + others).map(\.app)
    }
}

/// Where APNs is, and who we are to it.
public struct APNsOptions: Sendable, Equatable {
    /// Name or address: `api.push.apple.com`, or `api.sandbox.push.apple.com` for builds from Xcode.
    public var host: String
    /// 443 at Apple's hosts, or 2197 where a firewall lets that through.
    public var port: UInt16
    /// PEM file with the authority that signed the server's certificate; `nil` takes the system's trust store.
    public var caFile: String?
    /// The `.p8` file of the provider key, or a link to it. Another key in it takes over within seconds.
    public var keyFile: String
    /// `nil` takes it from the file's name, `AuthKey_<id>.p8`, and so rotates with the file.
    public var keyID: String?
    /// Ten characters, as the developer account shows it.
    public var teamID: String
    /// Bare bundle id; the push type's suffix is ours to add.
    public var bundleID: String
    /// Whose tokens the host takes; tells apart the same app's two environments.
    public var environment: AppID.Environment
    /// `nil`, which is the default: as many as `reach` asks for. A number is kept whatever the distance and the audience are.
    public var connectionsPerShard: Int?
    /// From a goal to the last activity of the largest audience: connections are opened for that before it comes, as far away as APNs is.
    public var reach: Duration = .seconds(2)
    /// Of this app on this host, over all shards: that many at most where the engine chooses, though each shard has one. Another
    /// app, and another host, has as many: divide what APNs is to see by both.
    public var connectionsMax = 64
    /// After so much silence a connection without pushes is asked whether anybody is there, so that it is known to be dead before
    /// it is needed: 30 to 60 seconds where routers forget quiet connections.
    public var idlePingAfter: Duration = .seconds(45)

    /// What does not fit is found when the engine is made (a file, a key) or with the first push (what only APNs
    /// knows).
    ///
    /// - Parameters:
    ///   - host: name or address.
    ///   - port: 443 at Apple's hosts.
    ///   - caFile: `nil` takes the system's trust store.
    ///   - keyFile: the provider key's `.p8` file.
    ///   - keyID: `nil` takes it from the name of `keyFile`.
    ///   - teamID: ten characters.
    ///   - bundleID: without a push type's suffix.
    ///   - environment: `development` belongs to the sandbox host.
    ///   - connectionsPerShard: `nil` lets the engine choose by `reach`.
    public init(
        host: String, port: UInt16, caFile: String? = nil, keyFile: String, keyID: String?, teamID: String,
        bundleID: String, environment: AppID.Environment = .production, connectionsPerShard: Int? = nil
    ) {
        self.host = host
        self.port = port
        self.caFile = caFile
        self.keyFile = keyFile
        self.keyID = keyID
        self.teamID = teamID
        self.bundleID = bundleID
        self.environment = environment
        self.connectionsPerShard = connectionsPerShard
    }

    /// Apple's service for TestFlight and the App Store, on port 443.
    ///
    /// - Parameters:
    ///   - keyFile: the provider key's `.p8` file.
    ///   - keyID: `nil` takes it from the name of `keyFile`.
    ///   - teamID: ten characters, as the developer account shows it.
    ///   - bundleID: without a push type's suffix.
    public static func production(
        keyFile: String, keyID: String? = nil, teamID: String, bundleID: String
    ) -> APNsOptions {
        APNsOptions(
            host: Endpoint.production.host, port: Endpoint.production.port, keyFile: keyFile, keyID: keyID,
            teamID: teamID, bundleID: bundleID)
    }

    /// Apple's service for builds from Xcode, on port 443; the parameters are those of `production`.
    public static func sandbox(
        keyFile: String, keyID: String? = nil, teamID: String, bundleID: String
    ) -> APNsOptions {
        APNsOptions(
            host: Endpoint.sandbox.host, port: Endpoint.sandbox.port, keyFile: keyFile, keyID: keyID, teamID: teamID,
            bundleID: bundleID, environment: .development)
    }

    /// Names these options among several: a `SubscriberID` and a `Scope` take it.
    public var app: AppID { AppID(bundleID: bundleID, environment: environment) }
}
