import Testing

@testable import FanfareModel

@Suite struct PackedRanksTests {
    @Test func ranksComeBackAsTheyWerePacked() {
        let prominence = Prominence(hasBegun: false, importance: 7, occasionWeight: 90)
        let ranks = PackedRanks(-3, prominence)
        #expect(ranks.relevance == -3)
        #expect(ranks.prominence == prominence)
    }

    @Test func missingRanksStayMissing() {
        let ranks = PackedRanks(nil, Prominence())
        #expect(ranks.relevance == nil)
        #expect(ranks.prominence == Prominence())
    }

    @Test func aRelevanceBeyondFourBytesIsClampedAndNeverGetsLost() {
        #expect(PackedRanks(.max, Prominence()).relevance == Int(Int32.max))
        #expect(PackedRanks(.min, Prominence()).relevance == Int(Int32.min) + 1)
    }

    @Test func ranksHaveThirteenBytes() {
        #expect(MemoryLayout<PackedRanks>.size == 13)
    }
}
