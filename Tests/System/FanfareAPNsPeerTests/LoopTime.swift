import FanfareAPNs
import FanfareLoop
import FanfareModel

/// The time given to a pool, on a machine that may stall. It advances with the loop's turns: only a moment passes in one turn, however
/// long the machine took for it. So a timeout means a wait of many turns, as long as on an idle machine. The time is never faster than
/// the machine's, except for a test's leaps.
final class LoopTime {
    private static let turnMax = Duration.milliseconds(5)

    private let start: Moment
    private let goesOn: Bool
    private var turnBegan = ContinuousClock.now
    private var turns: LoopTimer?
    private(set) var passed = Duration.zero

    /// - Parameters:
    ///   - goesOn: whether time passes between leaps. If it does not, waiting for a moment lasts for ever.
    ///   - wallBehindSeconds: lag of the machine's wall clock.
    init(goesOn: Bool = true, wallBehindSeconds: Int64 = 0) {
        self.goesOn = goesOn
        var start = ConnectionPool.systemClock()
        start.wallMilliseconds -= wallBehindSeconds * 1000
        self.start = start
    }

    /// Time of this reading, which is later than the one before: code that reads the clock twice in a turn has two times.
    var now: Moment {
        passed += .nanoseconds(1)
        return Moment(
            wallMilliseconds: start.wallMilliseconds + passed.milliseconds,
            monotonicNanoseconds: (start.monotonic + passed).nanoseconds)
    }

    func leap(_ duration: Duration) { passed += duration }

    /// Advances with this loop until that is closed.
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

/// Tells whether everything that was written on a loop has arrived. A message is read in the turn after it was written, and answered
/// in that turn or the next one.
struct Quiet {
    private var traffic = 0
    private var ticks = 0

    /// Returns whether this count of messages has stood still for four calls, each of another turn.
    mutating func holds(_ traffic: Int) -> Bool {
        ticks = traffic == self.traffic ? ticks + 1 : 0
        self.traffic = traffic
        guard ticks > 3 else { return false }
        ticks = 0
        return true
    }
}
