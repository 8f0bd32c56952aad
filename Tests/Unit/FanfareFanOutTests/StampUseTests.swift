import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct StampUseTests {
    private static let second: Int64 = 1_790_000_000

    private static func moment(after seconds: Int64 = 0, mark: Int64) -> Moment {
        var moment = Moment(wallMilliseconds: (second + seconds) * 1000, monotonicNanoseconds: 1)
        moment.stamps = StampBounds(floor: 0, mark: mark)
        return moment
    }

    @Test func nothingIsAskedForWithoutAStoreThatReservesStamps() {
        var use = StampUse()
        use.note(Self.second + 1_000_000)
        let asked = use.takeRequest(at: Self.moment(mark: 0))
        #expect(asked == nil)
    }

    /// Cards with a state every moment have stamps ahead of the clock.
    @Test func aMarkIsAskedForOnceWhenStampsHaveUsedHalfOfTheReserve() {
        var use = StampUse()
        let mark = Self.second + 10_000
        use.reserve(beyond: mark)
        let moment = Self.moment(mark: mark)
        use.note(mark - StampMark.reserve / 2)
        let early = use.takeRequest(at: moment)
        use.note(mark - StampMark.reserve / 2 + 1)
        // An older stamp changes nothing.
        use.note(Self.second)
        let asked = [use.takeRequest(at: moment), use.takeRequest(at: moment)]
        #expect(early == nil && asked == [mark - StampMark.reserve / 2 + 1 + StampMark.reserve, nil])
    }

    @Test func aMarkIsAskedForWhenTheClockComesNearTheLastOne() {
        var use = StampUse()
        let mark = Self.second + 10_000
        use.reserve(beyond: mark)
        let near = 10_000 - StampMark.timeReserve / 2
        let early = use.takeRequest(at: Self.moment(after: near, mark: mark))
        let asked = use.takeRequest(at: Self.moment(after: near + 1, mark: mark))
        #expect(early == nil && asked == Self.second + near + 1 + StampMark.timeReserve)
    }

    /// All shards share the store's mark.
    @Test func aMarkThatAnotherShardHasAskedForIsNotAskedForAgain() {
        var use = StampUse()
        let mark = Self.second + 10_000
        use.reserve(beyond: mark)
        use.note(mark)
        let marks = [mark + StampMark.reserve, mark]
        let asked = marks.map { use.takeRequest(at: Self.moment(mark: $0)) }
        #expect(asked == [nil, mark + StampMark.reserve])
    }
}
