import FanfareAPNs
public import FanfareModel

/// Way in which pushes leave the engine.
public enum TransportChoice: Sendable, Equatable {
    /// Takes every delivery at once and reads every token byte: the engine without a network.
    case discard
    /// Simulates a bad network from a seed: late and reordered answers, throttled, unprocessed and unanswered pushes, dead tokens.
    case fault(seed: UInt64)
    /// Pushes to APNs for one or several apps, or for one app in both environments. Each app has its own connections, because the tokens of one app
    /// are useless to another, and trouble with one app must not delay another. A call that names no app means the first one.
    case apns(APNsOptions, others: [APNsOptions] = [])

    /// Apps in the order of the options; empty if nothing is sent to APNs.
    package var apps: [AppID] {
        guard case .apns(let first, let others) = self else { return [] }
        return ([first] + others).map(\.app)
    }
}

/// Address of APNs and the provider's credentials.
public struct APNsOptions: Sendable, Equatable {
    /// Name or address: `api.push.apple.com`, or `api.sandbox.push.apple.com` for builds from Xcode.
    public var host: String
    /// Port: 443 at Apple's hosts, or 2197 if a firewall allows only that.
    public var port: UInt16
    /// PEM file with the authority that signed the server's certificate; `nil` selects the system's trust store.
    public var caFile: String?
    /// The `.p8` file of the provider key, or a link to it. The engine adopts a replaced key within seconds.
    public var keyFile: String
    /// Id of the provider key; `nil` takes it from the file's name, `AuthKey_<id>.p8`, so that it rotates with the file.
    public var keyID: String?
    /// Team id: ten characters, as the developer account shows it.
    public var teamID: String
    /// Bundle id without the push type's suffix, which the engine adds.
    public var bundleID: String
    /// Environment whose tokens the host accepts; distinguishes the two environments of one app.
    public var environment: AppID.Environment
    /// Connections per shard; `nil`, the default, lets the engine choose by `reach`. A number applies at any distance and audience size.
    public var connectionsPerShard: Int?
    /// Time in which an alert is to reach the last activity of the largest audience. The engine opens connections for it in advance, allowing
    /// for the distance to APNs.
    public var reach: Duration = .seconds(2)
    /// Limit on the connections that the engine chooses for this app on this host, over all shards; each shard has at least one. Other apps and other
    /// hosts have limits of their own, so divide the number that APNs is to see by the numbers of apps and hosts.
    public var connectionsMax = 64
    /// Time without traffic after which the engine pings a connection, to find a dead connection before it is needed: 30 to 60 seconds if routers
    /// drop quiet connections.
    public var idlePingAfter: Duration = .seconds(45)

    /// Creates options without checks. The engine finds a wrong file or key when it is created; a value that only APNs can judge fails with the first
    /// push.
    ///
    /// - Parameters:
    ///   - host: name or address.
    ///   - port: 443 at Apple's hosts.
    ///   - caFile: `nil` selects the system's trust store.
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

    /// Returns options for Apple's service for TestFlight and the App Store, on port 443.
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

    /// Returns options for Apple's service for builds from Xcode, on port 443; the parameters are those of `production`.
    public static func sandbox(
        keyFile: String, keyID: String? = nil, teamID: String, bundleID: String
    ) -> APNsOptions {
        APNsOptions(
            host: Endpoint.sandbox.host, port: Endpoint.sandbox.port, keyFile: keyFile, keyID: keyID, teamID: teamID,
            bundleID: bundleID, environment: .development)
    }

    /// App and environment, which name these options in a `SubscriberID` and a `Scope`.
    public var app: AppID { AppID(bundleID: bundleID, environment: environment) }
}
