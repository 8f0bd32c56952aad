import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct LoneLineupsTests {
    /// Returns an audience at rest.
    private func audience(of member: ActivitySlot) -> (Audience, Lineup) {
        let lineup = Lineup(rotation: Rotation(LineupRules(), pinned: nil, at: 0))
        lineup.publishedAt = 77
        lineup.publishedSpotlight = 2
        let audience = Audience(topics: [7, 8, 9], lineup: lineup, trackedMax: 4)
        audience.rest(member, at: 12, nil, priority: .immediate, alertCounts: SIMD2(3, 4))
        return (audience, lineup)
    }

    @Test func aStateIsHereFromTheRestToTheWaking() {
        var lineups = LoneLineups()
        for _ in 0..<2 { lineups.add() }
        let (object, lineup) = audience(of: ActivitySlot(3))
        lineups.rest(1, object, lineup, at: 2)
        #expect(lineups.rows == [LoneLineups.none, LoneLineups.none, 1])
        #expect(lineups.states[1].rotation != nil && lineups.states[0].rotation == nil)
        let woken = lineups.wake(1, at: 2)
        #expect(woken.state.member == ActivitySlot(3) && woken.state.number == 12 && woken.state.publishedAt == 77)
        #expect(woken.state.spotlight == 2 && woken.state.alertCounts == SIMD2(3, 4))
        #expect(woken.spare === object)
        #expect(lineups.rows[2] == LoneLineups.none && lineups.states[1].rotation == nil)
    }

    @Test func anObjectServesOneLineupAtATime() {
        var lineups = LoneLineups()
        for _ in 0..<2 { lineups.add() }
        let (first, lineup) = audience(of: ActivitySlot(3))
        let (second, other) = audience(of: ActivitySlot(4))
        lineups.rest(0, first, lineup, at: 0)
        lineups.rest(1, second, other, at: 1)
        let objects = [lineups.wake(0, at: 0).spare, lineups.wake(1, at: 1).spare]
        #expect(objects[0] === second && objects[1] === first)
    }
}
