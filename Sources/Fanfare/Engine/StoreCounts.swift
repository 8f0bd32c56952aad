package import FanfareLog

/// What an engine's store has, what waits for it, and how long its disk takes. `Engine.storeCounts` returns it.
public struct StoreCounts: Sendable, Equatable {
    /// Position of the oldest entry that the log keeps; `nil` for an empty log.
    public var oldestEntry: Receipt.EntryPosition?
    /// Position of the newest durable entry; `nil` for an empty log.
    public var newestEntry: Receipt.EntryPosition?
    /// Number of entries that the engine has taken from its mailbox and that are not durable.
    public var entriesWaiting = 0
    /// Number of changes of cards that the engine has taken and not carried out, those in the mailbox included.
    public var changesWaiting = 0
    /// Number of requests of shards for claims that are not durable: alerts and starts wait for them.
    public var claimsWaiting = 0
    /// Number of cards; `nil` while the store's cards are loaded, and for a replay.
    public var cards: Int?
    /// Commits of entries.
    public var log = CommitCounts()
    /// Commits of cards; `nil` for a replay, which changes no card.
    public var people: CommitCounts?
    /// Commits of claims and completions; `nil` for a replay, which makes none.
    public var claims: CommitCounts?

    /// Creates counts of zero, for a program's tests.
    public init() {}
}

extension StoreCounts {
    /// Creates the counts of a log without people and claims.
    package init(log meter: CommitMeter, entriesWaiting: Int) {
        let figures = meter.figures
        if figures.newest > 0, let rows = figures.rows {
            newestEntry = Receipt.EntryPosition(figures.newest)
            oldestEntry = Receipt.EntryPosition(figures.newest + 1 - UInt64(rows))
        }
        self.entriesWaiting = entriesWaiting
        log = CommitCounts(figures)
    }
}
