import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct StampUseTests {
    private static let second: Int64 = 1_790_000_000

    private static func moment(after seconds: Int64 = 0, ceiling: Int64) -> Moment {
        var moment = Moment(wallMilliseconds: (second + seconds) * 1000, monotonicNanoseconds: 1)
        moment.stamps = StampBounds(floor: 0, ceiling: ceiling)
        return moment
    }

    @Test func nothingIsAskedForWithoutAStoreThatReservesStamps() {
        var use = StampUse()
        use.note(Self.second + 1_000_000)
        let asked = use.takeRequest(at: Self.moment(ceiling: 0))
        #expect(asked == nil)
    }

    /// Cards with a state every moment have stamps ahead of the clock.
    @Test func aCeilingIsAskedForOnceWhenStampsHaveUsedHalfOfTheReserve() {
        var use = StampUse()
        let ceiling = Self.second + 10_000
        use.reserve(beyond: ceiling)
        let moment = Self.moment(ceiling: ceiling)
        use.note(ceiling - StampCeiling.reserve / 2)
        let early = use.takeRequest(at: moment)
        use.note(ceiling - StampCeiling.reserve / 2 + 1)
        // An older stamp changes nothing.
        use.note(Self.second)
        let asked = [use.takeRequest(at: moment), use.takeRequest(at: moment)]
        #expect(early == nil && asked == [ceiling - StampCeiling.reserve / 2 + 1 + StampCeiling.reserve, nil])
    }

    @Test func aCeilingIsAskedForWhenTheClockComesNearTheLastOne() {
        var use = StampUse()
        let ceiling = Self.second + 10_000
        use.reserve(beyond: ceiling)
        let near = 10_000 - StampCeiling.timeReserve / 2
        let early = use.takeRequest(at: Self.moment(after: near, ceiling: ceiling))
        let asked = use.takeRequest(at: Self.moment(after: near + 1, ceiling: ceiling))
        #expect(early == nil && asked == Self.second + near + 1 + StampCeiling.timeReserve)
    }

    /// All shards share the store's ceiling.
    @Test func aCeilingThatAnotherShardHasAskedForIsNotAskedForAgain() {
        var use = StampUse()
        let ceiling = Self.second + 10_000
        use.reserve(beyond: ceiling)
        use.note(ceiling)
        let ceilings = [ceiling + StampCeiling.reserve, ceiling]
        let asked = ceilings.map { use.takeRequest(at: Self.moment(ceiling: $0)) }
        #expect(asked == [nil, ceiling + StampCeiling.reserve])
    }
}
