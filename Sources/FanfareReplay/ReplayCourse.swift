import Fanfare

/// How far a replay has come, from the opening of its connections to the moment at which nothing more is decided.
struct ReplayCourse {
    private enum Stage {
        /// Nothing of the feed has been taken.
        case connecting
        case feeding
        /// The feed is over, and everybody is owed the last state.
        case settling
        /// Nothing more is decided or waited for.
        case halted
    }

    private var stage = Stage.connecting
    /// Some of the feed may have been taken. A replay that is halted before that never begins.
    private(set) var hasBegun = false
    /// Everything that was taken has been decided.
    private(set) var isFeedOver = false
    private(set) var settlement = Settlement.unknown
    private var ending = LiveEnding()

    var isFeeding: Bool { stage == .feeding }
    var everybodyHasAll: Bool { settlement == .complete }

    /// - Returns: whether it begins now; it does so once.
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

    /// Nothing is on its way any more, unless nobody knows.
    ///
    /// - Returns: whether the replay is over with that.
    mutating func settle(_ settlement: Settlement) -> Bool {
        self.settlement = settlement
        return settlement != .unknown
    }

    mutating func halt() { stage = .halted }

    // MARK: Somebody wants it to stop

    /// - Returns: whether to go on until everything that was taken is sent; the second time it is not.
    mutating func interrupt(at now: Int64, patience: Duration?) -> Bool { ending.begin(at: now, patience: patience) }

    /// The time for what was taken is over; `nil`: nobody wants the replay to stop.
    func isLate(at now: Int64) -> Bool? { ending.isLate(at: now) }

    /// For what is on its way to come back; `nil`: nobody is in a hurry.
    func timeLeft(at now: Int64) -> Duration? { ending.timeLeft(at: now) }

    /// What was taken and could not be done, in one line for people.
    func unsent(undelivered: Int) -> String? {
        settlement == .unknown ? ending.unsent(undelivered: undelivered, isDecided: isFeedOver) : nil
    }
}
