import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct MilestonesTests {
    @Test func theFirstEventAndEachPowerOfTenAreReported() {
        var milestones = Milestones()
        let reported = (0..<12_345).compactMap { _ in milestones.next() }
        #expect(reported == [1, 10, 100, 1000, 10_000])
    }
}
