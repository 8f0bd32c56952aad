/// How pushes leave the engine.
public enum TransportChoice: Sendable, Equatable {
    /// Takes every delivery at once and reads every token byte: the engine without a network.
    case discard
    /// Like a bad network: late answers in another order, throttled, unprocessed and unanswered pushes, dead tokens, by the seed.
    case fault(seed: UInt64)
    case apns(APNsOptions)
}

/// Where APNs is, and who we are to it.
public struct APNsOptions: Sendable, Equatable {
    public var host: String
    public var port: UInt16
    /// PEM file with the authority that signed the server's certificate; `nil` takes the system's trust store.
    public var caFile: String?
    /// The `.p8` file of the provider key, or a link to it. When it changes, the new key takes over within seconds.
    public var keyFile: String
    /// `nil` takes it from the file's name, `AuthKey_<id>.p8`, and so rotates with the file.
    public var keyID: String?
    public var teamID: String
    /// Bare bundle id; the push type's suffix is ours to add.
    public var bundleID: String
    public var connectionsPerShard: Int

    public init(
        host: String, port: UInt16, caFile: String? = nil, keyFile: String, keyID: String?, teamID: String,
        bundleID: String, connectionsPerShard: Int = 2
    ) {
        self.host = host
        self.port = port
        self.caFile = caFile
        self.keyFile = keyFile
        self.keyID = keyID
        self.teamID = teamID
        self.bundleID = bundleID
        self.connectionsPerShard = connectionsPerShard
    }
}
