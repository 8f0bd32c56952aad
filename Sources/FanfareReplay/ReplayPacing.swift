import FanfareLoop
import FanfareModel

/// Schedules the replay's next step, after other callbacks, at a moment of the feed or after a delay, and its checks of progress and deadlines.
/// Confined to the replay's loop.
final class ReplayPacing {
    private var timeScale: TimeScale
    private var timer: LoopTimer?
    /// A wake-up instead of a timer of zero, which would fire in the same turn of the loop, before other callbacks.
    private var nextTurn: Wakeup?
    /// Timer of `onCheck`.
    private var checks: LoopTimer?
    var onDue: () -> Void = {}
    /// Called every `checkInterval` from `beginChecking` on.
    var onCheck: () -> Void = {}

    private static let checkInterval = Duration.milliseconds(200)

    init(_ timeScale: TimeScale, loop: Loop) throws(LoopError) {
        self.timeScale = timeScale
        nextTurn = try Wakeup(loop: loop) { [unowned self] in onDue() }
        timer = LoopTimer(loop: loop) { [unowned self] in onDue() }
        checks = LoopTimer(loop: loop) { [unowned self] in onCheck() }
    }

    /// - Returns: `true` if the moment has come; otherwise `onDue` is called when it comes.
    func hasCome(_ moment: FeedTime, at now: MonotonicTime) -> Bool {
        let wait = timeScale.wait(until: moment, now: now)
        guard wait > .zero else { return true }
        self.wait(wait)
        return false
    }

    func beginChecking() { checks?.start(after: ReplayPacing.checkInterval, repeating: ReplayPacing.checkInterval) }

    /// Schedules `onDue` after the duration, in place of a pending wait.
    func wait(_ duration: Duration) { timer?.start(after: duration) }

    /// Schedules the next step after the loop's other callbacks.
    func yield() { nextTurn?.signal.signal() }

    /// Schedules a step; callable from any thread.
    var step: @Sendable () -> Void {
        let signal = nextTurn?.signal
        return { signal?.signal() }
    }
}
