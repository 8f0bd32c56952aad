package import Fanfare
package import FanfareDecisions
package import FanfareFanOut
package import FanfareFeeds
package import FanfareModel
import FanfareQueues

/// Feed, timetable and subscribers of a replay.
package struct ReplayOptions: Sendable {
    /// Files or folders; `-` alone is standard input, read live.
    package var paths: [String]
    package var feed = FeedOptions()
    package var rules = Rules.builtIn
    /// Fills `ReplaySummary.whatIf`.
    package var countsWhatIf = false
    package var timetable = ReplayTimetable()
    package var subscribers = SubscriberOptions()
    /// Topics of the lineup that `ReplayOutput.preview` shows; empty for none.
    package var preview: [TopicID] = []
    /// Includes topics forgotten before the feed's end in `Replay.writeStates`; each of them takes memory.
    package var keepsStates = false
    package var shards = 1
    /// Pins each shard's thread to one processor.
    package var pinsShards = false
    package var transport = TransportChoice.discard
    /// Time without an accepted push after which the replay gives up its transport, while activities still lack an update; `nil`
    /// for never. Applies only after the feed's end. The default is longer than an activity's longest backoff, 96 s, so an activity
    /// that was throttled repeatedly is still served.
    package var patience: Duration? = .seconds(120)
    /// Folder whose log the replay goes on with, and writes to; `nil` if nothing outlives the process.
    package var store: StoreOptions?
    /// Clocks of the replay: the system's, except in tests.
    package var clock = ClockSource.system

    package init(paths: [String]) { self.paths = paths }
}

/// Progress of a replay, made at most a few times a second.
package struct ReplayProgress: Sendable {
    /// Log time of the last event; `nil` before the first.
    package var now: FeedTime?
    package var events = 0
    package var updates = 0
    package var counts = ShardCounts()
    package var seconds = 0.0
    /// Share of the feed that is done, 0–1; `nil` if the feed's length is unknown.
    package var fraction: Double?

    package init() {}
}

/// Receivers of a replay's output. All calls come on the thread that runs the replay.
package struct ReplayOutput {
    /// One NDJSON line of the decision log, newline included, in decision order.
    package var decision: (([UInt8]) -> Void)?
    /// One line of the decision log per decision that an earlier run of the store has made, before the replay exists.
    package var recalledDecision: (([UInt8]) -> Void)?
    /// Number of lines that precede those of `recalledDecision`, and are not decided again.
    package var skippedDecisions: ((UInt64) -> Void)?
    /// Holds the feed while it returns `true`; everything else goes on. `Replay.goOn` reports
    /// that there is room again. `nil` never holds it.
    package var isFull: (() -> Bool)?
    /// Receives one line for people: a rejected line, a fault of the transport, a skipped file.
    package var report: (String) -> Void
    package var progress: ((ReplayProgress) -> Void)?
    /// Receives each new card of the previewed lineup's phone.
    package var preview: ((LineupPreview.ShownCard) -> Void)?

    package init(
        decision: (([UInt8]) -> Void)? = nil, recalledDecision: (([UInt8]) -> Void)? = nil,
        report: @escaping (String) -> Void, progress: ((ReplayProgress) -> Void)? = nil,
        preview: ((LineupPreview.ShownCard) -> Void)? = nil
    ) {
        self.decision = decision
        self.recalledDecision = recalledDecision
        self.report = report
        self.progress = progress
        self.preview = preview
    }
}
