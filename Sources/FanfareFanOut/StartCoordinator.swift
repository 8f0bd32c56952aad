import FanfareModel

/// The shard's record of an activity that has no update token yet: some 100 bytes, its request and its start token. It is kept until
/// the token registers, or for eight hours after the start has left.
struct PendingStart {
    enum Phase {
        /// The start has an entry in its audience's `starts`.
        case due
        /// The start waits in the timing wheel, or is held by the dead-token guard.
        case waiting
        /// The start is in flight, was accepted, or has an unknown outcome: it is never sent again (rule L7).
        case sent
    }

    /// The newest request. Its token differs from the activity's if it was replaced after the start had left.
    var request: StartRequest
    /// 1, plus 1 for each renewal.
    let edition: Int
    /// The activity whose place this one takes: it ends when this one's token has registered. If that activity is ended earlier, so
    /// is this one. `nil` after the renewal has been reported.
    var renews: ActivityID?
    /// Is `true` when the system has ended the renewed card, after its eight hours.
    var outlivesOld = false
    /// Index of the audience whose state it shows.
    var audience: Int
    var phase = Phase.due
    /// Starts that were certainly not accepted, but may be later: 429s, and errors between which other pushes were served.
    var refusals = 0
    var shown: Shown?

    /// The content that a card shows since its start.
    struct Shown {
        /// Version of its audience.
        let version: UInt32
        /// Hash of the version's visible content; `nil` if the activity came from another audience.
        let display: UInt64?
        /// The version of the audience up to which alerts are not sent: they came before the start, or the card that this one renews has had
        /// its chance at them.
        fileprivate(set) var alerted: UInt32

        init(version: UInt32, display: UInt64?) {
            (self.version, self.display) = (version, display)
            alerted = version
        }
    }

    /// Refusals after which a start is given up. They take some ten minutes, with waits from one second to about a minute: people who
    /// follow something now look for the card now.
    static let refusalsMax = 12

    /// The time for which a start waits for something to show, or until it may be sent, nanoseconds: seven days, as long as a topic may
    /// take to begin (`TopicRules.beginsWithin`).
    static let patience: Int64 = 7 * 86_400 * 1_000_000_000
}

/// Starts of activities that have no update token yet, each from its request until the token registers, and the start budgets of
/// their devices.
///
/// A start is due, or waits for a moment, or has been sent; the waiting ones are counted. The line of the due ones and the timers
/// of the waiting ones are kept elsewhere.
struct StartCoordinator {
    private var starts: [ActivitySlot: PendingStart] = [:]
    private(set) var waitingCount = 0
    private var budget = StartBudget()

    var count: Int { starts.count }
    /// For each start, the index of the audience whose state it shows.
    var audiences: [Int] { starts.values.map(\.audience) }
    var all: some Sequence<(slot: ActivitySlot, start: PendingStart)> { starts.lazy.map { ($0, $1) } }

    subscript(slot: ActivitySlot) -> PendingStart? { starts[slot] }

    mutating func add(_ start: PendingStart, for slot: ActivitySlot) {
        remove(slot)
        starts[slot] = start
        if start.phase == .waiting { waitingCount += 1 }
    }

    @discardableResult
    mutating func remove(_ slot: ActivitySlot) -> PendingStart? {
        guard let start = starts.removeValue(forKey: slot) else { return nil }
        if start.phase == .waiting { waitingCount -= 1 }
        return start
    }

    // MARK: Phases

    mutating func enqueue(_ slot: ActivitySlot) { setPhase(.due, of: slot) }

    mutating func postpone(_ slot: ActivitySlot) { setPhase(.waiting, of: slot) }

    /// Marks the start as sent; it never leaves again.
    ///
    /// - Parameter shown: the content that it carries.
    mutating func send(_ slot: ActivitySlot, showing shown: PendingStart.Shown) {
        setPhase(.sent, of: slot)
        starts[slot]?.shown = shown
    }

    private mutating func setPhase(_ phase: PendingStart.Phase, of slot: ActivitySlot) {
        guard let old = starts[slot]?.phase else { return }
        starts[slot]?.phase = phase
        waitingCount += (phase == .waiting ? 1 : 0) - (old == .waiting ? 1 : 0)
    }

    /// Counts a start that was certainly not accepted, for a reason that may be its own.
    mutating func noteRefusal(of slot: ActivitySlot) { starts[slot]?.refusals += 1 }

    /// Clears the refusals of a start that goes to another token.
    mutating func forgetRefusals(of slot: ActivitySlot) { starts[slot]?.refusals = 0 }

    func isRefusedTooOften(_ slot: ActivitySlot) -> Bool { starts[slot]?.refusals == PendingStart.refusalsMax }

    /// Takes one start from the device's budget.
    ///
    /// - Returns: `nil` if there was one; otherwise the time at which there will be one, monotonic nanoseconds.
    mutating func takeBudget(for token: [UInt8], at now: Int64) -> Int64? { budget.take(token, at: now) }

    /// Gives a start back to the device's budget, because it was certainly not accepted.
    mutating func returnBudget(for token: [UInt8]) { budget.giveBack(token) }

    // MARK: Content

    mutating func replaceRequest(of slot: ActivitySlot, with request: StartRequest) { starts[slot]?.request = request }

    /// Moves the activity to another audience. If its start has been sent, it misses the versions there after `version`.
    mutating func move(_ slot: ActivitySlot, to audience: Int, at version: UInt32) {
        guard let phase = starts[slot]?.phase else { return }
        starts[slot]?.audience = audience
        starts[slot]?.shown = phase == .sent ? PendingStart.Shown(version: version, display: nil) : nil
    }

    // MARK: Renewals

    /// Notes that the card whose place this one takes has had its chance at the alerts up to this version, and shows the same.
    mutating func noteAlerts(through version: UInt32, of slot: ActivitySlot) {
        guard let shown = starts[slot]?.shown else { return }
        starts[slot]?.shown?.alerted = max(shown.alerted, version)
    }

    mutating func setOutlivesOld(_ slot: ActivitySlot, _ outlives: Bool) { starts[slot]?.outlivesOld = outlives }

    /// Takes the activity that goes on as this one, so that this is reported once.
    ///
    /// - Returns: `nil` if it has been reported.
    mutating func takeRenewed(by slot: ActivitySlot) -> ActivityID? { starts[slot]?.renews.take() }

    func violation() -> String? {
        let waiting = starts.values.count { $0.phase == .waiting }
        guard waiting == waitingCount else {
            return "\(waitingCount) starts that wait are counted, there are \(waiting)"
        }
        for (slot, start) in starts {
            guard start.phase != .sent || start.shown != nil else {
                return "the start of slot \(slot.rawValue) has been sent, and nobody knows what it shows"
            }
            guard start.refusals <= PendingStart.refusalsMax else {
                return "the start of slot \(slot.rawValue) has been refused \(start.refusals) times"
            }
        }
        return nil
    }
}
