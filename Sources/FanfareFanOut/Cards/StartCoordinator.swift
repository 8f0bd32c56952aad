import FanfareModel

/// The shard's record of an activity that has no update token yet: some 100 bytes, its request and its start token. It is kept until
/// the token registers, or for eight hours after the start has left.
struct PendingStart {
    enum Phase {
        /// The start has an entry in its audience's `starts`.
        case due
        /// The start waits in the timing wheel, or is held by the dead-token guard.
        case suspended
        /// The start waits until the store has its claim.
        case claiming
        /// The start is in flight, was accepted, or has an uncertain outcome: it is never sent again (rule L7).
        case sent
    }

    /// State of a start's claim.
    enum Claim: Equatable {
        case none
        /// The request with this ticket names the start.
        case named(ticket: UInt64)
        /// The claim is durable, and the start holds its room until it is visited.
        case unused
        /// The claim is durable. The start may have left.
        case used
    }

    /// Age from which on a claim lets no start leave: the store keeps it for 24 hours of log time (`StoredClaims`), of which a card
    /// without a token may take eight.
    static let claimAgeMax = Duration.seconds(12 * 3600)

    /// Number of the first request, by which claims name the start: the store keeps the number when further requests follow.
    let number: UInt32
    /// The newest request. Its token differs from the activity's if it was replaced after the start had left.
    var request: StartRequest
    /// 1, plus 1 for each renewal.
    let edition: Int
    /// The activity whose place this one takes, and which ends when this one's token has registered. If it is ended earlier, so is this one. `nil`
    /// after the renewal has been reported.
    var renews: ActivityID?
    /// Is `true` when the system has ended the renewed card, after its eight hours.
    var outlivesOld = false
    /// Index of the audience whose state the start shows.
    var audience: AudienceIndex
    var phase = Phase.due
    fileprivate(set) var claim = Claim.none
    /// Time at which the claim was requested.
    fileprivate(set) var claimedAt = MonotonicTime.always
    /// Is `true` while the start waits for its claim and holds one start of its device's budget.
    fileprivate(set) var hasBudget = false
    /// Number of attempts that were certainly not accepted although later ones may be: 429s, and errors between which other pushes were served.
    var refusals = 0
    var shown: Shown?

    init(request: StartRequest, edition: Int, renews: ActivityID?, audience: AudienceIndex) {
        number = request.number
        (self.request, self.edition, self.renews, self.audience) = (request, edition, renews, audience)
    }

    /// The content that a card shows since its start.
    struct Shown {
        /// Version of its audience.
        let version: UInt32
        /// Hash of the version's visible content; `nil` if the activity came from another audience.
        let displayHash: UInt64?
        /// The version of the audience up to which alerts are not sent: they came before the start, or are settled for the card that this one
        /// renews.
        fileprivate(set) var alerted: UInt32

        init(version: UInt32, displayHash: UInt64?) {
            (self.version, self.displayHash) = (version, displayHash)
            alerted = version
        }

        /// - Parameter alerted: version up to which alerts do not concern an activity that is loaded.
        init(version: UInt32, displayHash: UInt64?, alerted: UInt32) {
            (self.version, self.displayHash, self.alerted) = (version, displayHash, alerted)
        }
    }

    /// `StartRequest.patience` in nanoseconds.
    static let patience = StartRequest.patience.boundedNanoseconds
}

extension PendingStart.Phase {
    fileprivate var isDelayed: Bool { self == .suspended || self == .claiming }
}

/// Starts of activities that have no update token yet, each from its request until the token registers, and the start budgets of
/// their devices.
///
/// A start is due, or waits for a moment or for its claim, or has been sent; those that wait are counted. The line of the due ones and the
/// timers of those that wait for a moment are kept elsewhere.
struct StartCoordinator {
    private var starts: [ActivitySlot: PendingStart] = [:]
    private(set) var delayedCount = 0
    private var claims = StartClaims()
    /// Number of starts whose claims are unused.
    private var unusedCount = 0
    private var budget = StartBudget()

    var count: Int { starts.count }
    /// For each start, the index of the audience whose state it shows.
    var audiences: [AudienceIndex] { starts.values.map(\.audience) }
    var all: some Sequence<(slot: ActivitySlot, start: PendingStart)> { starts.lazy.map { ($0, $1) } }

    subscript(slot: ActivitySlot) -> PendingStart? { starts[slot] }

    mutating func add(_ start: PendingStart, for slot: ActivitySlot) {
        remove(slot)
        starts[slot] = start
        if start.phase.isDelayed { delayedCount += 1 }
    }

    @discardableResult
    mutating func remove(_ slot: ActivitySlot) -> PendingStart? {
        guard let start = starts.removeValue(forKey: slot) else { return nil }
        if start.phase.isDelayed { delayedCount -= 1 }
        if start.claim == .unused { unusedCount -= 1 }
        if start.hasBudget { budget.giveBack(start.request.token) }
        return start
    }

    // MARK: Phases

    mutating func enqueue(_ slot: ActivitySlot) { setPhase(.due, of: slot) }

    mutating func postpone(_ slot: ActivitySlot) { setPhase(.suspended, of: slot) }

    /// Marks the start as sent; it never leaves again.
    ///
    /// - Parameter shown: the content that it carries.
    mutating func send(_ slot: ActivitySlot, showing shown: PendingStart.Shown) {
        setPhase(.sent, of: slot)
        starts[slot]?.shown = shown
        starts[slot]?.hasBudget = false
    }

    private mutating func setPhase(_ phase: PendingStart.Phase, of slot: ActivitySlot) {
        guard let old = starts[slot]?.phase else { return }
        starts[slot]?.phase = phase
        delayedCount += (phase.isDelayed ? 1 : 0) - (old.isDelayed ? 1 : 0)
    }

    // MARK: Claims

    /// Notes that a start is visited, so that it holds no room for a claim any more.
    ///
    /// - Returns: `true` if its claim is durable and lets it leave.
    mutating func useClaim(of slot: ActivitySlot, at now: MonotonicTime) -> Bool {
        giveUpRoom(of: slot)
        guard let start = starts[slot], start.claim == .used else { return false }
        guard now - start.claimedAt < PendingStart.claimAgeMax else {
            starts[slot]?.claim = .none
            return false
        }
        return true
    }

    private mutating func giveUpRoom(of slot: ActivitySlot) {
        guard starts[slot]?.claim == .unused else { return }
        starts[slot]?.claim = .used
        unusedCount -= 1
    }

    /// Makes a start wait for its claim.
    mutating func awaitClaim(of slot: ActivitySlot) {
        setPhase(.claiming, of: slot)
        claims.append(slot)
    }

    /// Is `true` if a start may wait that no claim names.
    var hasUnclaimed: Bool { claims.unnamedCount > 0 }

    /// Returns the next starts to be claimed, in the request with this ticket.
    ///
    /// - Parameter countMax: number of starts that may be claimed and not have left.
    mutating func takeUnclaimed(upTo countMax: Int, ticket: UInt64, at now: MonotonicTime) -> [ActivitySlot] {
        let taken = claims.takeNext(upTo: countMax, beside: unusedCount, ticket: ticket) { [starts] slot in
            starts[slot].map { $0.phase == .claiming && $0.claim == .none } ?? false
        }
        for slot in taken {
            starts[slot]?.claim = .named(ticket: ticket)
            starts[slot]?.claimedAt = now
        }
        return taken
    }

    /// Notes that all claims up to that ticket are durable.
    ///
    /// - Returns: the starts that still wait for these claims.
    mutating func confirmClaims(through ticket: UInt64) -> [ActivitySlot] {
        var confirmed: [ActivitySlot] = []
        for request in claims.takeDurable(through: ticket) {
            // The slot may have another start by now.
            for slot in request.slots where starts[slot]?.claim == .named(ticket: request.ticket) {
                let waits = starts[slot]?.phase == .claiming
                starts[slot]?.claim = waits ? .unused : .used
                guard waits else { continue }
                unusedCount += 1
                confirmed.append(slot)
            }
        }
        return confirmed
    }

    /// Counts a start that was certainly not accepted, for a reason that may be its own.
    mutating func noteRefusal(of slot: ActivitySlot) { starts[slot]?.refusals += 1 }

    /// Clears the refusals of a start that goes to another token.
    mutating func forgetRefusals(of slot: ActivitySlot) { starts[slot]?.refusals = 0 }

    func isRefusedTooOften(_ slot: ActivitySlot) -> Bool { starts[slot]?.refusals == StartFailure.refusalsMax }

    /// Takes one start from the device's budget, unless it was taken before the start began to wait for its claim.
    ///
    /// - Returns: `nil` if the start has its part of the budget; otherwise the time at which the budget will have one.
    mutating func takeBudget(of slot: ActivitySlot, at now: MonotonicTime) -> MonotonicTime? {
        guard let start = starts[slot], !start.hasBudget else { return nil }
        if let due = budget.take(start.request.token, at: now) { return due }
        starts[slot]?.hasBudget = true
        return nil
    }

    /// Gives a start back to the device's budget, because it was certainly not accepted.
    mutating func returnBudget(for token: [UInt8]) { budget.giveBack(token) }

    // MARK: Content

    mutating func replaceRequest(of slot: ActivitySlot, with request: StartRequest) {
        if let start = starts[slot], start.hasBudget, start.request.token != request.token {
            budget.giveBack(start.request.token)
            starts[slot]?.hasBudget = false
        }
        starts[slot]?.request = request
    }

    /// Moves the activity to another audience. If its start has been sent, it misses the versions there after `version`.
    mutating func move(_ slot: ActivitySlot, to audience: AudienceIndex, at version: UInt32) {
        guard let phase = starts[slot]?.phase else { return }
        // The other topic may have nothing to show for days: the start is visited there before it waits for a claim again.
        giveUpRoom(of: slot)
        if let start = starts[slot], start.hasBudget {
            budget.giveBack(start.request.token)
            starts[slot]?.hasBudget = false
        }
        if phase == .claiming { setPhase(.due, of: slot) }
        starts[slot]?.audience = audience
        starts[slot]?.shown = phase == .sent ? PendingStart.Shown(version: version, displayHash: nil) : nil
    }

    // MARK: Renewals

    /// Notes that the alerts up to this version are settled for the card whose place this one takes, and that both show the same.
    mutating func noteAlerts(through version: UInt32, of slot: ActivitySlot) {
        guard let shown = starts[slot]?.shown else { return }
        starts[slot]?.shown?.alerted = max(shown.alerted, version)
    }

    mutating func setOutlivesOld(_ slot: ActivitySlot, _ outlives: Bool) { starts[slot]?.outlivesOld = outlives }

    /// Takes the activity that goes on as this one, so that the renewal is reported once.
    ///
    /// - Returns: `nil` if it has been reported.
    mutating func takeRenewed(by slot: ActivitySlot) -> ActivityID? { starts[slot]?.renews.take() }

    func violation() -> String? {
        let delayed = starts.values.count { $0.phase.isDelayed }
        guard delayed == delayedCount else {
            return "\(delayedCount) starts that wait are counted, there are \(delayed)"
        }
        let unused = starts.values.count { $0.claim == .unused }
        guard unused == unusedCount else {
            return "\(unusedCount) unused claims of starts are counted, there are \(unused)"
        }
        let unnamed = starts.values.count { $0.phase == .claiming && $0.claim == .none }
        guard unnamed <= claims.unnamedCount else { return "\(unnamed) starts wait for claims that nobody makes" }
        for (slot, start) in starts {
            guard start.phase != .sent || start.shown != nil else {
                return "the start of slot \(slot.rawValue) has been sent, and nobody knows what it shows"
            }
            if start.phase == .claiming {
                switch start.claim {
                case .none: break
                case .named(let ticket) where claims.isRequested(ticket): break
                default: return "the start of slot \(slot.rawValue) waits for a claim that it has"
                }
            }
            guard start.refusals <= StartFailure.refusalsMax else {
                return "the start of slot \(slot.rawValue) has been refused \(start.refusals) times"
            }
        }
        return claims.violation() ?? budget.violation()
    }
}
