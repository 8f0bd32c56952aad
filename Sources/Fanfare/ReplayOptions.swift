public import FanfareDecisions
public import FanfareFanOut
public import FanfareFeeds
public import FanfareModel

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
    /// Of a recorded feed, as `gapMax` and `from`: what is live is taken when it comes.
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
    /// `Replay.writeStates` tells also of topics that the feed's end has found forgotten; each takes memory for that.
    public var keepsStates = false
    /// Seed of the synthetic tokens and lineups.
    public var seed: UInt64 = 1
    public var shards = 1
    /// Every shard's thread stays on one processor.
    public var pinsShards = false
    public var transport = TransportChoice.discard
    /// After the feed's end the transport is given up when nothing has been accepted for this long although something is owed;
    /// `nil`: never. While the feed goes on it is not given up. Longer than the longest backoff of an activity, 96 s: whoever was
    /// throttled again and again is still served.
    public var patience: Duration? = .seconds(120)
    /// The system's clocks, unless a test has others.
    public var clock = ClockSource.system

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
        /// 0: the feed's end found it held back.
        public var version: UInt32
        /// From the goal's ingestion until the last activity had that version or a newer one; `nil` when that never came.
        public var secondsToLast: Double?
        /// Somebody was to get it.
        public var isAwaited = true
    }

    /// What has become of activities without anybody having asked for it. A replay starts none, and renews none.
    public struct Fates: Sendable {
        /// Over after eight hours.
        public var expired = 0
        /// Their ends were refused for good: the cards stay until the system ends them.
        public var notEnded = 0
        /// Not followed, or not moved.
        public var refused: [CommandRefusal: Int] = [:]

        mutating func note(_ fate: ActivityFate) {
            switch fate {
            case .expired: expired += 1
            case .notEnded: notEnded += 1
            case .refused(let refusal): refused[refusal, default: 0] += 1
            case .notStarted, .renewed, .ended: break
            }
        }
    }

    public var events = 0
    public var decisions: [Outcome: Int] = [:]
    public var updates = 0
    public var alertsGranted = 0
    public var alertsDemoted = 0
    /// What the decisions amount to beside a push for every event; `nil` when nobody asked.
    public var whatIf: DecisionTally.Figures?
    public var counts = ShardCounts()
    public var fates = Fates()
    /// By topic kind, over all shards.
    public var freshness = FreshnessReport()
    public var goals: [Goal] = []
    /// Those of a live feed before them: the last 10,000 are kept.
    public var goalsLeftOut = 0
    /// Seconds from the first event to the end of the replay, and to the last push that was accepted.
    public var seconds = 0.0
    public var deliverySeconds = 0.0
    /// CPU of this process while it ran, divided by pushes sent.
    public var cpuMicrosecondsPerPush: Double?
    public var peakResidentBytes: Int64 = 0
    /// Files in the given folders that are no feed.
    public var skippedFiles: [String] = []
    /// Stopped by the person, or the transport was given up.
    public var interrupted = false
    /// Activities that lack their newest state: it is still owed them, or was refused for good.
    public var undelivered: Int { counts.owed + counts.refused }

    /// Seconds for which anybody lacked a publication, or something newer, at most.
    public var oldestUndelivered: Double {
        let sweeps = freshness.kinds.values.map(\.sweep.max).max() ?? 0
        return Double(max(sweeps, freshness.oldestUndelivered)) / 1e9
    }

    /// Everything was delivered, and nothing was rejected or refused.
    public var isClean: Bool {
        !interrupted && undelivered == 0 && counts.pushes.failed == 0 && decisions[.rejected, default: 0] == 0
            && fates.notEnded == 0 && fates.refused.isEmpty
    }

    public init() {}
}

/// What a replay tells while it runs. All calls come on the thread that runs it.
public struct ReplayOutput {
    /// One NDJSON line of the decision log, newline included, in decision order.
    public var decision: (([UInt8]) -> Void)?
    /// While this is true the feed waits, and everything else goes on; `Replay.goOn` says when it no longer is. `nil`: never.
    public var isFull: (() -> Bool)?
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
