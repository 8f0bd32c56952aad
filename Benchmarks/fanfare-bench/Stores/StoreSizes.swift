import Foundation

/// Sizes of all parts of the benchmarks with a store; each part uses some of them.
struct StoreSizes: Sendable {
    var people = 100_000
    var topics = 5_000
    /// People whose matches have goals, beside `people`, whose match ends.
    var followers = 5_000
    /// Entries of the log.
    var entries = 100_000
    /// Rows that are rewritten each second.
    var rate = 30_000
    /// Seconds for which events are handed in.
    var seconds = 10
    /// Sweeps with alerts and as many without, of each engine.
    var sweeps = 20
    /// Engines with a store and as many without.
    var rounds = 3
    /// Folder in which stores are made. For the parts that another one runs: the store itself, empty if there is none.
    var folder = NSTemporaryDirectory()
}
