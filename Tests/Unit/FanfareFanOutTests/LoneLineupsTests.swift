import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct LoneLineupsTests {
    /// Returns the state of a lineup at rest.
    private func resting(_ row: Int, member: ActivitySlot, spotlight: Int? = 2) -> RestingLineup {
        RestingLineup(
            row: row, pinned: 1, member: member, number: 12, displayHash: 99, priority: .immediate, publishedAt: 77,
            rotation: RestingRotation(
                position: 2, weight: .max, dwellEnds: .always, turnEnds: .always, debt: 0,
                debtAt: FeedTime(milliseconds: 0)),
            spotlight: spotlight, wakeUp: nil, alertCounts: SIMD2(3, 4))
    }

    @Test func aStateIsHereFromTheRestToTheWaking() {
        var lineups = LoneLineups()
        for _ in 0..<2 { lineups.add() }
        lineups.rest(resting(1, member: ActivitySlot(3)), at: 2)
        let rows = lineups.rows.indices.map { lineups.rows[$0] }
        #expect(rows == [LoneLineups.none, LoneLineups.none, 1])
        #expect(lineups.states[1].rotation != nil && lineups.states[0].rotation == nil)
        #expect(lineups.states[1].displayHash == 99 && lineups.states[1].displayHashBefore == 99)
        let woken = lineups.wake(1, pinned: 1, at: 2)
        #expect(woken.row == 1 && woken.pinned == 1 && woken.priority == .immediate && woken.displayHash == 99)
        #expect(woken.member == ActivitySlot(3) && woken.number == 12 && woken.publishedAt == 77)
        #expect(woken.spotlight == 2 && woken.alertCounts == SIMD2(3, 4))
        #expect(lineups.rows[2] == LoneLineups.none && lineups.states[1].rotation == nil)
    }

    @Test func aLineupWithoutASpotlightWakesWithoutOne() {
        var lineups = LoneLineups()
        lineups.add()
        lineups.rest(resting(0, member: ActivitySlot(3), spotlight: nil), at: 0)
        let woken = lineups.wake(0, pinned: nil, at: 0)
        #expect(woken.spotlight == nil && woken.pinned == nil)
    }
}
