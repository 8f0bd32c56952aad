import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct PullTurnTests {
    /// Asks for pulls after these times in one turn of the pool.
    private func pulls(_ turn: inout PullTurn, in loopTurn: UInt64, after times: [Duration]) -> [Bool] {
        turn.begin()
        return times.map { turn.mayPull(in: loopTurn, at: .after($0)) }
    }

    @Test func pullsEndAfterAFewMillisecondsOfTheLoopsTurn() {
        var turn = PullTurn()
        let first = pulls(&turn, in: 1, after: [.zero, .milliseconds(4), .nanoseconds(4_000_001)])
        #expect(first == [true, true, false] && turn.isCutShort)
        // Another connection's turn, in the same turn of the loop.
        let second = pulls(&turn, in: 1, after: [.milliseconds(5)])
        #expect(second == [false])
        let next = pulls(&turn, in: 2, after: [.milliseconds(6)])
        #expect(next == [true] && !turn.isCutShort)
    }

    @Test func pullsThatTakeNoTimeEnd() {
        var turn = PullTurn()
        let made = pulls(&turn, in: 1, after: Array(repeating: .zero, count: 1000))
        #expect(made.count { $0 } == 256 && turn.isCutShort)
    }
}
