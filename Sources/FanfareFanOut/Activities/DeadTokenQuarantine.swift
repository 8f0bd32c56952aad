import FanfareModel
import FanfareQueues

/// Activities that are kept although APNs answered that their tokens are dead, because too many such answers came. The guard decides
/// when they are held; they wait until it opens, or for their turn as probes. All share one timer.
struct DeadTokenQuarantine {
    /// Wait between two batches of probes while the guard is shut.
    private static let probeInterval = Duration.seconds(10)
    /// Entries that one release may take from the queue, whether or not their activities still wait.
    private static let releasesMax = 4096
    /// Number of abandoned entries that are left alone.
    private static let abandonedMin = 16
    /// Maximum of entries that one pass examines at once.
    static let wholeMax = 64
    /// Number of entries that each abandoned one makes a longer pass examine. A pass begins when a quarter of the entries may be abandoned, and is over
    /// before as many as half are.
    static let examinedMax = 8

    /// The remaining allowance of one release.
    struct Release {
        fileprivate var probesLeft: Int
        fileprivate var stepsLeft: Int
    }

    private var tokenGuard: DeadTokenGuard
    /// Activities that one batch of probes tries again while the guard is shut: enough to notice a corrected setting, and negligible beside
    /// the rate at which the service answers.
    private let probes: Int
    /// Entries that the present pass over abandoned entries has examined and kept.
    private var kept = Queue<(slot: ActivitySlot, generation: UInt32)>()
    /// Entries that the present pass has still to examine, all behind those of `kept`; they are empty only if the queue is.
    private var rest = Queue<(slot: ActivitySlot, generation: UInt32)>()
    /// Upper bound on the entries whose activity no longer waits, or waits for something else.
    private var abandoned = 0
    /// Upper bound on those of `kept` that were abandoned after the pass examined them.
    private var abandonedInPass = 0
    private var hasTimer = false

    init(answers: ClosedRange<Int>, probes: Int) {
        tokenGuard = DeadTokenGuard(answers: answers)
        self.probes = probes
    }

    /// Is `true` while no activity may be removed for a dead token.
    var isShut: Bool { tokenGuard.isShut }
    var count: Int { kept.count + rest.count }
    private var isEmpty: Bool { kept.isEmpty && rest.isEmpty }

    // MARK: Answers

    /// Records pushes that the service has accepted, or answered as going to a dead token.
    ///
    /// - Returns: a line for operators if that has shut or opened the guard.
    mutating func note(answers count: Int, dead: Int) -> String? {
        switch tokenGuard.note(answers: count, dead: dead) {
        case nil: nil
        case .shut:
            "\(tokenGuard.dead) of the last \(tokenGuard.answers) pushes went to dead tokens: no more activities are "
                + "removed for that. Check that the tokens' environment (development or production) and the bundle id "
                + "are the ones pushed to. It goes on when the share falls, or when told that the tokens did die"
        case .opened: "dead tokens are few again: their activities are removed as before"
        }
    }

    /// Opens the guard because an operator has confirmed that the tokens did die.
    ///
    /// - Returns: a line for operators.
    mutating func overrule() -> String {
        tokenGuard.overrule()
        return "told that the tokens did die: their activities are removed as before"
    }

    // MARK: The queue

    /// Adds an activity to the queue.
    ///
    /// - Returns: the moment at which a timer must fire; `nil` if one is set already.
    mutating func add(_ slot: ActivitySlot, generation: UInt32, at now: MonotonicTime) -> MonotonicTime? {
        rest.append((slot, generation))
        guard !hasTimer else { return nil }
        hasTimer = true
        return now + DeadTokenQuarantine.probeInterval
    }

    /// Notes that an activity that may be quarantined no longer waits. Abandoned entries are removed when they may be a quarter of the queue. A few
    /// entries are examined each time, so that a million of them lengthen no turn.
    mutating func abandon(isQuarantined: (ActivitySlot, _ generation: UInt32) -> Bool) {
        guard !isEmpty else { return }
        abandoned = min(abandoned + 1, count)
        if kept.isEmpty {
            guard abandoned > DeadTokenQuarantine.abandonedMin, abandoned * 4 > count else { return }
            abandonedInPass = 0
        } else {
            abandonedInPass += 1
        }
        let examined = count <= DeadTokenQuarantine.wholeMax ? count : DeadTokenQuarantine.examinedMax
        for _ in 0..<examined {
            examineNext(isQuarantined: isQuarantined)
            if rest.isEmpty { return endPass() }
        }
    }

    /// Examines the next entry of the pass, which keeps it or removes it. The generation makes each entry the only one of its kind.
    private mutating func examineNext(isQuarantined: (ActivitySlot, _ generation: UInt32) -> Bool) {
        guard let entry = rest.popFirst() else { return }
        if isQuarantined(entry.slot, entry.generation) {
            kept.append(entry)
        } else {
            abandoned = max(0, abandoned - 1)
        }
    }

    /// Ends the pass, which has examined all entries.
    private mutating func endPass() {
        swap(&kept, &rest)
        abandoned = isEmpty ? 0 : min(abandoned, abandonedInPass)
    }

    /// Begins a release after the timer has fired.
    mutating func beginRelease() -> Release {
        hasTimer = false
        return Release(
            probesLeft: tokenGuard.isShut ? probes : DeadTokenQuarantine.releasesMax,
            stepsLeft: DeadTokenQuarantine.releasesMax)
    }

    /// Takes the next activity to be tried again from the queue, the longest quarantined first.
    ///
    /// - Returns: `nil` when the release is over.
    mutating func next(
        of release: inout Release, isQuarantined: (ActivitySlot, _ generation: UInt32) -> Bool
    ) -> (slot: ActivitySlot, generation: UInt32)? {
        while release.stepsLeft > 0, let first = kept.first ?? rest.first {
            release.stepsLeft -= 1
            // An activity that was removed since, or has a new token, is no probe.
            let isQuarantined = isQuarantined(first.slot, first.generation)
            if isQuarantined, release.probesLeft == 0 { return nil }
            removeFirst()
            guard isQuarantined else { continue }
            release.probesLeft -= 1
            return first
        }
        return nil
    }

    private mutating func removeFirst() {
        if kept.popFirst() == nil { _ = rest.popFirst() }
        if isEmpty { abandoned = 0 }
    }

    /// Ends a release.
    ///
    /// - Returns: the moment at which the timer must fire again; `nil` if no activity waits.
    mutating func endRelease(at now: MonotonicTime) -> MonotonicTime? {
        guard !isEmpty else { return nil }
        hasTimer = true
        // The rest follows in the next pull if the guard is open.
        return now + (tokenGuard.isShut ? DeadTokenQuarantine.probeInterval : .nanoseconds(1))
    }

    func violation() -> String? {
        guard isEmpty || hasTimer else {
            return "\(count) activities are held, and nothing will release them"
        }
        guard !rest.isEmpty || kept.isEmpty else { return "a pass over \(kept.count) held activities has not ended" }
        guard !isEmpty || abandoned == 0 else { return "\(abandoned) of no held activities are abandoned" }
        return tokenGuard.violation()
    }
}
