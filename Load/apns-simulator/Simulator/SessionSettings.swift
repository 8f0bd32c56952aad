/// Settings that a connection of the simulator tells its client, and the settings of its answers.
struct SessionSettings {
    /// SETTINGS_MAX_CONCURRENT_STREAMS.
    var streamsMax: UInt32
    /// Allows only one stream until the first authenticated answer (spec §10).
    var isStrictAtStart: Bool
    /// Window of each stream; also of the connection if above HTTP/2's 65,535.
    var window: Int32
    /// Time in a 410 answer, in milliseconds.
    var deadSince: Int64
    var seed: UInt64
}
