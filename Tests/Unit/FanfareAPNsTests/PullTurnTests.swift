import Testing

@testable import FanfareAPNs

@Suite struct PullTurnTests {
    private let millisecond: Int64 = 1_000_000

    /// Asks for pulls at these times in one turn of the pool.
    private func pulls(_ turn: inout PullTurn, in loopTurn: UInt64, at times: [Int64]) -> [Bool] {
        turn.begin()
        return times.map { turn.mayPull(in: loopTurn, at: $0) }
    }

    @Test func pullsEndAfterAFewMillisecondsOfTheLoopsTurn() {
        var turn = PullTurn()
        let first = pulls(&turn, in: 1, at: [0, 4 * millisecond, 4 * millisecond + 1])
        #expect(first == [true, true, false] && turn.isCutShort)
        // Another connection's turn, in the same turn of the loop.
        let second = pulls(&turn, in: 1, at: [5 * millisecond])
        #expect(second == [false])
        let next = pulls(&turn, in: 2, at: [6 * millisecond])
        #expect(next == [true] && !turn.isCutShort)
    }

    @Test func pullsThatTakeNoTimeEnd() {
        var turn = PullTurn()
        let made = pulls(&turn, in: 1, at: Array(repeating: 0, count: 1000))
        #expect(made.count { $0 } == 256 && turn.isCutShort)
    }
}
