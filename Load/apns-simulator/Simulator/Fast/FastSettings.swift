/// Allowances of a fast simulator's connection to its client, and the settings of its answers.
struct FastSettings {
    /// SETTINGS_MAX_CONCURRENT_STREAMS.
    var streamsMax = 1000
    /// Delay of each answer.
    var latencyMilliseconds: UInt32 = 0
    /// Window of the connection, at least 65,535 bytes. The default holds the bodies of all
    /// streams many times over, so no client waits for it.
    var window = 1 << 24
    /// Time in a 410 answer, in milliseconds.
    var deadSince: Int64 = 0
}
