import FanfareAPNs
import FanfareLoop
import FanfareModel

/// Time as a pool is told it, on a machine that may stall. It goes on with the loop's turns: however long the machine took for one,
/// no more than a moment has passed. So who runs into a timeout has been waited for through many turns, and a wait is as long as it
/// would be on an idle machine. Never faster than the machine's time, but for the leaps of a test.
final class LoopTime {
    private static let turnMax = Duration.milliseconds(5)

    private let start: Moment
    private let goesOn: Bool
    private var turnBegan = ContinuousClock.now
    private var turns: LoopTimer?
    private(set) var passed = Duration.zero

    /// - Parameters:
    ///   - goesOn: false: it stands still between leaps. Who has to wait for something then waits for ever.
    ///   - wallBehindSeconds: how late the machine's wall clock is.
    init(goesOn: Bool = true, wallBehindSeconds: Int64 = 0) {
        self.goesOn = goesOn
        var start = ConnectionPool.systemClock()
        start.wallMilliseconds -= wallBehindSeconds * 1000
        self.start = start
    }

    var now: Moment {
        Moment(
            wallMilliseconds: start.wallMilliseconds + passed.milliseconds,
            monotonicNanoseconds: start.monotonicNanoseconds + Int64(passed / .nanoseconds(1)))
    }

    func leap(_ duration: Duration) { passed += duration }

    /// Goes on with this loop until that is closed.
    func run(on loop: Loop) {
        guard goesOn else { return }
        turnBegan = .now
        turns = LoopTimer(loop: loop) { [unowned self] in
            let now = ContinuousClock.now
            passed += min(now - turnBegan, Self.turnMax)
            turnBegan = now
        }
        turns?.start(after: .zero, repeating: .milliseconds(2))
    }

    deinit { turns?.close() }
}
