import FanfareLoop
import FanfareModel

/// Timer at a pool's first deadline. It may fire early, and its owner then finds nothing to do.
struct DeadlineTimer {
    private let timer: LoopTimer
    private var due = MonotonicTime.never
    /// Turn of the loop in which the timer fired late. It fires again in another turn, after the bytes that arrived meanwhile were read.
    private var lateIn: UInt64?

    /// Time after which the timer is late.
    private static let lateness = Duration.milliseconds(50)

    /// - Parameters:
    ///   - onTurnEnd: called at the end of the turn after `callAtTurnEnd`.
    ///   - onFire: called when the timer fires; asks `fires`.
    init(loop: Loop, onTurnEnd: @escaping () -> Void, onFire: @escaping () -> Void) {
        timer = LoopTimer(loop: loop, handler: onFire)
        timer.onTurnEnd = onTurnEnd
    }

    func close() { timer.close() }

    func callAtTurnEnd() { timer.callAtTurnEnd() }

    /// Takes the timer's call. All deadlines have passed, and the answers that have arrived meanwhile are unread, if the thread could not run
    /// for a while: the timer then fires once more in a later turn.
    ///
    /// - Returns: `true` if the deadlines are to be looked at now.
    mutating func fires(at now: MonotonicTime, inTurn turn: UInt64) -> Bool {
        if lateIn == turn || lateIn == nil && now - due > DeadlineTimer.lateness {
            lateIn = turn
            // No other code arms the timer until it has fired again.
            due = .always
            timer.start(after: .milliseconds(1))
            return false
        }
        lateIn = nil
        due = .never
        return true
    }

    /// Makes the timer fire no later than at the first deadline.
    ///
    /// - Returns: `false` if the timer fires in time already.
    @discardableResult
    mutating func arm(at first: MonotonicTime, now: MonotonicTime) -> Bool {
        // A timer that is long overdue and has not fired shows that the machine was suspended, and libuv's clock with it.
        let hasSlept = lateIn == nil && now - due > DeadlineTimer.lateness
        guard first < due || hasSlept else { return false }
        due = first
        timer.start(after: max(.zero, first - now))
        return true
    }

    /// Describes a late timer that could be armed before it has fired again; `nil` if there is none. For tests.
    func violation() -> String? {
        lateIn == nil || due == .always ? nil : "the timer was late in turn \(lateIn ?? 0), and is due at \(due)"
    }
}
