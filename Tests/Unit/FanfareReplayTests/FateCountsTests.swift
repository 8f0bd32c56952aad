import FanfareFanOut
import Testing

@testable import FanfareReplay

@Suite struct FateCountsTests {
    @Test func onlyFatesThatNoCommandAskedForAreCounted() {
        var fates = FateCounts()
        for fate: ActivityFate in [.expired, .notEnded, .ended, .expired] { fates.note(fate) }
        #expect(fates.expired == 2 && fates.notEnded == 1 && fates.refused.isEmpty)
    }
}
