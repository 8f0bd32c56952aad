import FanfareModel

/// Activities that are kept although their tokens were answered as dead, because too many were: the guard decides when, and they wait
/// until it opens or for their turn as probes. One timer stands for all that wait.
///
/// Moments and spans are monotonic nanoseconds.
struct DeadTokenQuarantine {
    /// How long after activities are tried again while the guard is shut.
    private static let probeInterval: Int64 = 10_000_000_000
    /// Activities that go on, or are found to wait no longer, in one pull.
    private static let releasesMax = 4096

    /// Activities that one release lets go.
    struct Release {
        fileprivate var probesLeft: Int
        fileprivate var stepsLeft: Int
    }

    private var tokenGuard: DeadTokenGuard
    /// Activities that are tried again at a time while the guard is shut: enough to see a setting mended, and a trickle beside
    /// what the service answers at once.
    private let probes: Int
    private var queue = Queue<(slot: ActivitySlot, generation: UInt32)>()
    /// Entries, at most, whose activity waits no longer, or not for this.
    private var abandoned = 0
    private var hasTimer = false

    init(answers: ClosedRange<Int>, probes: Int) {
        tokenGuard = DeadTokenGuard(answers: answers)
        self.probes = probes
    }

    /// Nothing may be removed for a dead token.
    var isShut: Bool { tokenGuard.isShut }
    var count: Int { queue.count }

    // MARK: Answers

    /// Takes note of pushes that the service has accepted, or answered as going to a dead token.
    ///
    /// - Returns: a line for operators, when that has shut or opened the guard.
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

    /// The tokens did die, says a person.
    ///
    /// - Returns: a line for operators.
    mutating func overrule() -> String {
        tokenGuard.overrule()
        return "told that the tokens did die: their activities are removed as before"
    }

    // MARK: The queue

    /// - Returns: when the timer is to fire; `nil` when it stands already.
    mutating func hold(_ slot: ActivitySlot, generation: UInt32, at now: Int64) -> Int64? {
        queue.append((slot, generation))
        guard !hasTimer else { return nil }
        hasTimer = true
        return now + DeadTokenQuarantine.probeInterval
    }

    /// An activity that may be held waits no longer. Once half of the entries may be such they are cut out.
    mutating func abandon(isHeld: (ActivitySlot, _ generation: UInt32) -> Bool) {
        guard !queue.isEmpty else { return }
        abandoned += 1
        guard abandoned > 16, abandoned * 2 > queue.count else { return }
        queue = Queue(queue.elements.filter { isHeld($0.slot, $0.generation) })
        abandoned = 0
    }

    /// The timer has fired.
    mutating func beginRelease() -> Release {
        hasTimer = false
        return Release(
            probesLeft: tokenGuard.isShut ? probes : DeadTokenQuarantine.releasesMax,
            stepsLeft: DeadTokenQuarantine.releasesMax)
    }

    /// - Returns: the next activity that goes on, the longest held first; `nil` when no more do for now.
    mutating func next(
        of release: inout Release, isHeld: (ActivitySlot, _ generation: UInt32) -> Bool
    ) -> (slot: ActivitySlot, generation: UInt32)? {
        while release.stepsLeft > 0, let first = queue.first {
            release.stepsLeft -= 1
            // An activity that has gone meanwhile, or has a new token, is no probe.
            let isHeld = isHeld(first.slot, first.generation)
            if isHeld, release.probesLeft == 0 { return nil }
            removeFirst()
            guard isHeld else { continue }
            release.probesLeft -= 1
            return first
        }
        return nil
    }

    private mutating func removeFirst() {
        _ = queue.popFirst()
        if queue.isEmpty { abandoned = 0 }
    }

    /// - Returns: when the timer is to fire again; `nil` when nobody waits.
    mutating func endRelease(at now: Int64) -> Int64? {
        guard !queue.isEmpty else { return nil }
        hasTimer = true
        // With the guard open, in the next pull.
        return now + (tokenGuard.isShut ? DeadTokenQuarantine.probeInterval : 1)
    }

    func violation() -> String? {
        guard queue.isEmpty || hasTimer else {
            return "\(queue.count) activities are held, and nothing will release them"
        }
        guard !queue.isEmpty || abandoned == 0 else { return "\(abandoned) of no held activities are abandoned" }
        return nil
    }
}
