package import Fanfare
package import FanfareDecisions
package import FanfareFanOut
package import FanfareFeeds
package import FanfareModel

/// What to replay, how fast, and to whom.
package struct ReplayOptions: Sendable {
    package enum Speed: Sendable, Equatable {
        /// As fast as events can be decided; nothing waits.
        case max
        /// This many seconds of the feed in one second.
        case times(Double)
    }

    /// Files or folders; `-` alone is standard input, live.
    package var paths: [String]
    package var feed = FeedOptions()
    package var rules = Rules.builtIn
    /// Counts what `ReplaySummary.whatIf` tells.
    package var countsWhatIf = false
    /// Of a recorded feed, as `gapMax` and `from`: what is live is taken when it comes.
    package var speed = Speed.max
    /// Longest wait between two events, in feed time. Shortens waiting only.
    package var gapMax = Duration.seconds(30)
    /// Events before this moment are caught up with at full speed.
    package var from: FeedTime?
    /// The replay stops before the first event after this moment.
    package var until: FeedTime?
    /// Synthetic subscribers: number *i* follows topic *i* mod T of a pre-scan.
    package var subscribers = 0
    /// Beside the synthetic ones, or instead of them.
    package var subscriberSource: (any SubscriberSource)?
    /// Every subscriber has a lineup of so many topics instead of one topic; `nil`: none has.
    package var lineups: ClosedRange<Int>?
    /// The first topic of each lineup is its favourite.
    package var hasFavourites = false
    /// A lineup whose phone `ReplayOutput.preview` shows, beside the subscribers; empty for none.
    package var preview: [TopicID] = []
    /// `Replay.writeStates` tells also of topics that the feed's end has found forgotten; each takes memory for that.
    package var keepsStates = false
    /// Seed of the synthetic tokens and lineups.
    package var seed: UInt64 = 1
    package var shards = 1
    /// Every shard's thread stays on one processor.
    package var pinsShards = false
    package var transport = TransportChoice.discard
    /// After the feed's end the transport is given up when nothing has been accepted for this long although something is owed;
    /// `nil`: never. While the feed goes on it is not given up. Longer than the longest backoff of an activity, 96 s: whoever was
    /// throttled again and again is still served.
    package var patience: Duration? = .seconds(120)
    /// The system's clocks, unless a test has others.
    package var clock = ClockSource.system

    package init(paths: [String]) { self.paths = paths }
}

/// How far a replay has come. Taken at most a few times a second.
package struct ReplayProgress: Sendable {
    /// Log time; `nil` before the first event.
    package var now: FeedTime?
    package var events = 0
    package var updates = 0
    package var counts = ShardCounts()
    package var seconds = 0.0
    /// 0–1 where the feed's length is known.
    package var fraction: Double?

    package init() {}
}

/// What a replay did, with its figures.
package struct ReplaySummary: Sendable {
    package struct Goal: Sendable {
        package var topic: TopicID
        /// 0: the feed's end found it held back.
        package var version: UInt32
        /// From the goal's ingestion until the last activity had that version or a newer one; `nil` when that never came.
        package var secondsToLast: Double?
        /// Somebody was to get it.
        package var isAwaited = true
    }

    /// What has become of activities without anybody having asked for it. A replay starts none, and renews none.
    package struct Fates: Sendable {
        /// Over after eight hours.
        package var expired = 0
        /// Their ends were refused for good: the cards stay until the system ends them.
        package var notEnded = 0
        /// Not followed, or not moved.
        package var refused: [CommandRefusal: Int] = [:]

        mutating func note(_ fate: ActivityFate) {
            switch fate {
            case .expired: expired += 1
            case .notEnded: notEnded += 1
            case .refused(let refusal): refused[refusal, default: 0] += 1
            case .notStarted, .renewed, .ended: break
            }
        }
    }

    package var events = 0
    package var decisions: [Outcome: Int] = [:]
    package var updates = 0
    package var alertsGranted = 0
    package var alertsDemoted = 0
    /// What the decisions amount to beside a push for every event; `nil` when nobody asked.
    package var whatIf: DecisionTally.Figures?
    package var counts = ShardCounts()
    package var fates = Fates()
    /// By topic kind, over all shards.
    package var freshness = FreshnessReport()
    package var goals: [Goal] = []
    /// Those of a live feed before them: the last 10,000 are kept.
    package var goalsLeftOut = 0
    /// Seconds from the first event to the end of the replay, and to the last push that was accepted.
    package var seconds = 0.0
    package var deliverySeconds = 0.0
    /// CPU of this process while it ran, divided by pushes sent.
    package var cpuMicrosecondsPerPush: Double?
    package var peakResidentBytes: Int64 = 0
    /// Files in the given folders that are no feed.
    package var skippedFiles: [String] = []
    /// Stopped by the person, or the transport was given up.
    package var interrupted = false
    /// Activities that lack their newest state: it is still owed them, or was refused for good.
    package var undelivered: Int { counts.owed + counts.refused }

    /// Seconds for which anybody lacked a publication, or something newer, at most.
    package var oldestUndelivered: Double {
        let sweeps = freshness.kinds.values.map(\.sweep.max).max() ?? 0
        return Double(max(sweeps, freshness.oldestUndelivered)) / 1e9
    }

    /// Everything was delivered, and nothing was rejected or refused.
    package var isClean: Bool {
        !interrupted && undelivered == 0 && counts.pushes.failed == 0 && decisions[.rejected, default: 0] == 0
            && fates.notEnded == 0 && fates.refused.isEmpty
    }

    package init() {}
}

/// What a replay tells while it runs. All calls come on the thread that runs it.
package struct ReplayOutput {
    /// One NDJSON line of the decision log, newline included, in decision order.
    package var decision: (([UInt8]) -> Void)?
    /// While this is true the feed waits, and everything else goes on; `Replay.goOn` says when it no longer is. `nil`: never.
    package var isFull: (() -> Bool)?
    /// A rejected line, a transport's trouble, a skipped file: one line for people.
    package var report: (String) -> Void
    package var progress: ((ReplayProgress) -> Void)?
    /// Each time the previewed lineup's phone shows something else.
    package var preview: ((LineupPreview.Display) -> Void)?

    package init(
        decision: (([UInt8]) -> Void)? = nil, report: @escaping (String) -> Void,
        progress: ((ReplayProgress) -> Void)? = nil, preview: ((LineupPreview.Display) -> Void)? = nil
    ) {
        self.decision = decision
        self.report = report
        self.progress = progress
        self.preview = preview
    }
}
