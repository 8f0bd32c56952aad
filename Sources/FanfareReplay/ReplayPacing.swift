import FanfareLoop
import FanfareModel

/// When a replay takes its next step: when others have had their turn, when a moment of the feed has come, or after a while. Confined to
/// the replay's loop.
final class ReplayPacing {
    private var pace: Pace
    private var timer: LoopTimer?
    /// A timer of zero would run again in the same turn of the loop, before other callbacks.
    private var nextTurn: Wakeup?
    var onDue: () -> Void = {}

    init(_ pace: Pace, loop: Loop) throws(LoopError) {
        self.pace = pace
        nextTurn = try Wakeup(loop: loop) { [unowned self] in onDue() }
        timer = LoopTimer(loop: loop) { [unowned self] in onDue() }
    }

    /// - Parameter now: monotonic nanoseconds.
    /// - Returns: whether the moment has come; if it has not, `onDue` is called when it has.
    func hasCome(_ moment: FeedTime, at now: Int64) -> Bool {
        let wait = pace.wait(until: moment, now: now)
        guard wait > 0 else { return true }
        self.wait(.nanoseconds(wait))
        return false
    }

    /// Takes the place of a wait that has not ended.
    func wait(_ duration: Duration) { timer?.start(after: duration) }

    /// Lets other callbacks have their turn first.
    func yield() { nextTurn?.signal.signal() }

    /// Has the replay take a step, from any thread.
    var step: @Sendable () -> Void {
        let signal = nextTurn?.signal
        return { signal?.signal() }
    }
}
