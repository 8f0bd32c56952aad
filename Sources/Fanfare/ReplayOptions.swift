public import FanfareCore
public import FanfareFeeds

/// What to replay, how fast, and to whom.
public struct ReplayOptions: Sendable {
    public enum Speed: Sendable, Equatable {
        /// As fast as events can be decided; nothing waits.
        case max
        /// This many seconds of the feed in one second.
        case times(Double)
    }

    /// Files or folders; `-` alone is standard input, live.
    public var paths: [String]
    public var feed = FeedOptions()
    public var rules = Rules.builtIn
    /// Counts what `ReplaySummary.whatIf` tells.
    public var countsWhatIf = false
    public var speed = Speed.max
    /// Longest wait between two events, in feed time. Shortens waiting only.
    public var gapMax = Duration.seconds(30)
    /// Events before this moment are caught up with at full speed.
    public var from: FeedTime?
    /// The replay stops before the first event after this moment.
    public var until: FeedTime?
    /// Synthetic subscribers: number *i* follows topic *i* mod T of a pre-scan.
    public var subscribers = 0
    /// Beside the synthetic ones, or instead of them.
    public var subscriberSource: (any SubscriberSource)?
    /// Every subscriber has a lineup of so many topics instead of one topic; `nil`: none has.
    public var lineups: ClosedRange<Int>?
    /// The first topic of each lineup is its favourite.
    public var hasFavourites = false
    /// A lineup whose phone `ReplayOutput.preview` shows, beside the subscribers; empty for none.
    public var preview: [TopicID] = []
    /// Seed of the synthetic tokens and lineups.
    public var seed: UInt64 = 1
    public var shards = 1
    /// Every shard's thread stays on one processor.
    public var pinsShards = false
    public var transport = TransportChoice.discard
    /// The transport is given up when nothing has been accepted for this long although something is owed.
    public var patience = Duration.seconds(20)

    public init(paths: [String]) { self.paths = paths }
}

/// How far a replay has come. Taken at most a few times a second.
public struct ReplayProgress: Sendable {
    /// Log time; `nil` before the first event.
    public var now: FeedTime?
    public var events = 0
    public var updates = 0
    public var counts = ShardCounts()
    public var seconds = 0.0
    /// 0–1 where the feed's length is known.
    public var fraction: Double?

    public init() {}
}

/// What a replay did, with its figures.
public struct ReplaySummary: Sendable {
    public struct Goal: Sendable {
        public var topic: TopicID
        public var version: UInt32
        /// From the goal's ingestion until the last activity had that version or a newer one; `nil` when that never came.
        public var secondsToLast: Double?
    }

    public var events = 0
    public var decisions: [Outcome: Int] = [:]
    public var updates = 0
    public var alertsGranted = 0
    public var alertsDemoted = 0
    /// What the decisions amount to beside a push for every event; `nil` when nobody asked.
    public var whatIf: DecisionTally.Figures?
    public var counts = ShardCounts()
    /// By topic kind, over all shards.
    public var freshness = FreshnessReport()
    public var goals: [Goal] = []
    /// Wall seconds from the first event to the last delivery.
    public var seconds = 0.0
    /// CPU of this process while it ran, divided by pushes sent.
    public var cpuMicrosecondsPerPush: Double?
    public var peakResidentBytes: Int64 = 0
    /// Files in the given folders that are no feed.
    public var skippedFiles: [String] = []
    /// Stopped by the person, or the transport was given up.
    public var interrupted = false
    public var undelivered = 0

    /// Seconds for which anybody lacked a publication, or something newer, at most.
    public var oldestUndelivered: Double {
        let sweeps = freshness.kinds.values.map(\.sweep.max).max() ?? 0
        return Double(max(sweeps, freshness.oldestUndelivered)) / 1e9
    }

    /// Everything was delivered and nothing was rejected.
    public var isClean: Bool {
        !interrupted && undelivered == 0 && counts.pushes.failed == 0 && decisions[.rejected, default: 0] == 0
    }

    public init() {}
}

/// What a replay tells while it runs. All calls come on the thread that runs it.
public struct ReplayOutput {
    /// One NDJSON line of the decision log, newline included, in decision order.
    public var decision: (([UInt8]) -> Void)?
    /// A rejected line, a transport's trouble, a skipped file: one line for people.
    public var report: (String) -> Void
    public var progress: ((ReplayProgress) -> Void)?
    /// Each time the previewed lineup's phone shows something else.
    public var preview: ((LineupPreview.Display) -> Void)?

    public init(
        decision: (([UInt8]) -> Void)? = nil, report: @escaping (String) -> Void,
        progress: ((ReplayProgress) -> Void)? = nil, preview: ((LineupPreview.Display) -> Void)? = nil
    ) {
        self.decision = decision
        self.report = report
        self.progress = progress
        self.preview = preview
    }
}
