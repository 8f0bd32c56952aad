import FanfareModel

/// What a shard knows of an activity that has no update token yet. Some 100 bytes, its request and its start token, until the
/// token registers, or for eight hours after its start has left.
struct PendingStart {
    enum Phase {
        /// Stands among its audience's `starts`.
        case due
        /// Stands in the timing wheel, or is held by the dead-token guard.
        case waiting
        /// The start is on its way, or was taken, or nobody knows: never to be sent again (rule L7).
        case sent
    }

    /// The newest one. Its token is not the activity's where that was replaced after the start had left.
    var request: StartRequest
    /// 1, and one more for each renewal.
    let edition: Int
    /// The activity whose place this one takes: it ends when this one's token has registered. Whoever has ended it before does not
    /// want this one either. `nil` once it was told that it goes on as this one.
    var renews: ActivityID?
    /// It was the system that has ended that one, after its eight hours.
    var outlivesOld = false
    /// Index of the audience whose state it shows.
    var audience: Int
    var phase = Phase.due
    /// Starts that were certainly not taken, and may be by another time: 429s, and errors between which others were served.
    var refusals = 0
    var shown: Shown?

    /// What a card shows since its start.
    struct Shown {
        /// Of its audience.
        let version: UInt32
        /// Hash of what that version shows; `nil` when the activity came from another audience.
        let display: UInt64?
        /// Alerts up to this version of the audience are not told of again: they came before, or the card that this one renews has had
        /// its chance at them.
        fileprivate(set) var alerted: UInt32

        init(version: UInt32, display: UInt64?) {
            (self.version, self.display) = (version, display)
            alerted = version
        }
    }

    /// With waits from one second to about a minute these are some ten minutes: who follows something now looks for the card now.
    static let refusalsMax = 12

    /// How long a start waits for something to show, or for leave to be sent, nanoseconds: seven days, as long as a topic is awaited
    /// that has not begun (`TopicRules.beginsWithin`).
    static let patience: Int64 = 7 * 86_400 * 1_000_000_000
}

/// Starts of activities that have no update token yet, from the wish for each until its token registers, and what each device may still
/// be sent of them.
///
/// A start is due, or waits for a moment, or has been sent; those that wait are counted. The line of those that are due and the timers
/// of those that wait are kept elsewhere.
struct StartCoordinator {
    private var starts: [ActivitySlot: PendingStart] = [:]
    private(set) var waitingCount = 0
    private var budget = StartBudget()

    var count: Int { starts.count }
    /// Of each start: the index of the audience whose state it shows.
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

    // MARK: On the way

    mutating func enqueue(_ slot: ActivitySlot) { setPhase(.due, of: slot) }

    mutating func postpone(_ slot: ActivitySlot) { setPhase(.waiting, of: slot) }

    /// The start leaves, never to leave again.
    ///
    /// - Parameter shown: what it carries.
    mutating func send(_ slot: ActivitySlot, showing shown: PendingStart.Shown) {
        setPhase(.sent, of: slot)
        starts[slot]?.shown = shown
    }

    private mutating func setPhase(_ phase: PendingStart.Phase, of slot: ActivitySlot) {
        guard let old = starts[slot]?.phase else { return }
        starts[slot]?.phase = phase
        waitingCount += (phase == .waiting ? 1 : 0) - (old == .waiting ? 1 : 0)
    }

    /// The start was certainly not taken, for a reason that may be its own.
    mutating func noteRefusal(of slot: ActivitySlot) { starts[slot]?.refusals += 1 }

    /// The start goes to another token, which has met nothing yet.
    mutating func forgetRefusals(of slot: ActivitySlot) { starts[slot]?.refusals = 0 }

    func isRefusedTooOften(_ slot: ActivitySlot) -> Bool { starts[slot]?.refusals == PendingStart.refusalsMax }

    /// Takes one start from what the device may be sent.
    ///
    /// - Returns: `nil` when there was one; else when there will be, monotonic nanoseconds.
    mutating func takeBudget(for token: [UInt8], at now: Int64) -> Int64? { budget.take(token, at: now) }

    /// The start has certainly not reached the device.
    mutating func returnBudget(for token: [UInt8]) { budget.giveBack(token) }

    // MARK: What it shows

    mutating func replaceRequest(of slot: ActivitySlot, with request: StartRequest) { starts[slot]?.request = request }

    /// The activity shows another audience from now on. If its start has been sent, it misses what happens there after `version`.
    mutating func move(_ slot: ActivitySlot, to audience: Int, at version: UInt32) {
        guard let phase = starts[slot]?.phase else { return }
        starts[slot]?.audience = audience
        starts[slot]?.shown = phase == .sent ? PendingStart.Shown(version: version, display: nil) : nil
    }

    // MARK: Renewals

    /// The card whose place this one takes shows the same, and has had its chance at the alerts up to this version.
    mutating func noteAlerts(through version: UInt32, of slot: ActivitySlot) {
        guard let shown = starts[slot]?.shown else { return }
        starts[slot]?.shown?.alerted = max(shown.alerted, version)
    }

    mutating func setOutlivesOld(_ slot: ActivitySlot, _ outlives: Bool) { starts[slot]?.outlivesOld = outlives }

    /// - Returns: the activity that goes on as this one, if that has not been told yet; from now on it has.
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
