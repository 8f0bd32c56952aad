package import Fanfare
package import FanfareFanOut
package import FanfareModel
import FanfareQueues

/// Result of a replay, with its figures.
package struct ReplaySummary: Sendable {
    package struct Goal: Sendable {
        package var topic: TopicID
        /// Version that carried the goal; 0 if the goal was still held back at the feed's end.
        package var version: UInt32
        /// Seconds from the goal's ingestion until the last activity had that version or a newer one; `nil` if that never happened.
        package var secondsToLast: Double?
        /// Is `true` if at least one activity was to get the goal.
        package var isAwaited = true
    }

    /// Figures of the entries that the store had from earlier runs. No other figure counts these entries.
    package struct Recall: Sendable {
        package var entries = 0
        /// Rejections among the decisions of earlier runs.
        package var rejections = 0
    }

    package var events = 0
    package var recall = Recall()
    package var decisions = DecisionCounts()
    /// Figures of the decisions, compared with a push for every event; `nil` unless `countsWhatIf` is set.
    package var whatIf: DecisionTally.Figures?
    package var counts = ShardCounts()
    /// Lineups of the subscribers when the feed began.
    package var lineups = LineupCounts()
    package var fates = FateCounts()
    /// Freshness by topic kind, over all shards.
    package var freshness = FreshnessReport()
    /// Counts of the store; `nil` without a store.
    package var store: StoreCounts?
    package var goals: [Goal] = []
    /// Earlier goals of a live feed that are not in `goals`, which keeps the last 10,000.
    package var goalsLeftOut = 0
    package var resources = ReplayResources()
    /// Files in the given folders that are not feeds.
    package var skippedFiles: [String] = []
    /// Is `true` if the replay was interrupted or gave up its transport.
    package var interrupted = false
    /// Activities that lack their newest state, because it is pending or was refused for good.
    package var undelivered: Int { counts.owed + counts.refusedStates }

    /// Longest time in seconds for which an activity lacked a publication or something newer.
    package var oldestUndelivered: Double {
        let sweeps = freshness.kinds.values.map(\.sweep.maxNanoseconds).max() ?? 0
        return Double(max(sweeps, freshness.oldestUndelivered.nanoseconds)) / 1e9
    }

    /// Is `true` if everything was delivered, and neither this run nor an earlier run of the store rejected or refused anything.
    package var isClean: Bool {
        !interrupted && undelivered == 0 && counts.pushes.refused == 0 && decisions.outcomes[.rejected, default: 0] == 0
            && recall.rejections == 0 && fates.notEnded == 0 && fates.refused.isEmpty
    }

    package init() {}
}
