import Fanfare

/// Stage of a replay, from the opening of its connections to the moment after which nothing is decided.
struct ReplayCourse {
    private enum Stage {
        /// Connections are opening; no event has been taken.
        case connecting
        case feeding
        /// The feed was left before its end, and entries of the log are still to be decided.
        case leaving
        /// The feed has ended, or was left, and activities still lack their newest state.
        case settling
        /// Nothing more is decided or awaited.
        case halted
    }

    private var stage = Stage.connecting
    /// Is `true` once an event may have been taken. A replay halted before that never begins.
    private(set) var hasBegun = false
    /// Is `true` when every event taken has been decided.
    private(set) var isFeedOver = false
    /// Is `true` when every event taken of a feed that was left has been decided.
    private var hasDecidedAll = false
    private(set) var settlement = Settlement.unknown
    private var ending = LiveEnding()
    private var stopsAtOnce = false

    var isFeeding: Bool { stage == .feeding }
    var everybodyHasAll: Bool { settlement == .complete }

    /// - Returns: `true` at the first call before `halt`.
    mutating func begin() -> Bool {
        guard stage == .connecting else { return false }
        stage = .feeding
        hasBegun = true
        return true
    }

    mutating func endFeed() {
        isFeedOver = true
        stage = .settling
    }

    /// Notes the engine's answer to `settle`.
    ///
    /// - Returns: `true` if the replay is over: the shards know that no push is on its way.
    mutating func settle(_ settlement: Settlement) -> Bool {
        self.settlement = settlement
        return settlement != .unknown
    }

    mutating func halt() { stage = .halted }

    /// Halts without a wait for answers.
    mutating func haltAtOnce() {
        halt()
        stopsAtOnce = true
    }

    /// Leaves the feed before its end: no further event is taken.
    mutating func leaveFeed() { if stage == .feeding { stage = .leaving } }

    var isLeaving: Bool { stage == .leaving }

    /// Notes that every event taken of a feed that was left has been decided.
    mutating func noteDecided() {
        stage = .settling
        hasDecidedAll = true
    }

    // MARK: Interruption

    /// - Returns: `true` at the first interruption: the replay goes on until every event taken is sent. `false` at the second one.
    mutating func interrupt(at now: MonotonicTime, patience: Duration?) -> Bool {
        ending.begin(at: now, patience: patience)
    }

    /// Is `true` when the time limit of an interrupted replay has passed; `nil` without an interruption.
    func isLate(at now: MonotonicTime) -> Bool? { ending.isLate(at: now) }

    /// Time left for pushes in flight to be answered; `nil` without an interruption.
    func timeLeft(at now: MonotonicTime) -> Duration? { stopsAtOnce ? .zero : ending.timeLeft(at: now) }

    /// Events or pushes left undone by an interruption, in one line for people.
    func unsent(undelivered: Int) -> String? {
        settlement == .unknown ? ending.unsent(undelivered: undelivered, isDecided: isFeedOver || hasDecidedAll) : nil
    }
}
