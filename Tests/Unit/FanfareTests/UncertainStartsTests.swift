import Testing

@testable import Fanfare

@Suite struct UncertainStartsTests {
    private static func starts(_ cards: UInt64...) -> UncertainStarts {
        var starts = UncertainStarts()
        for card in cards { starts.insert(card) }
        return starts
    }

    @Test func callsFromBeforeTheNewsAreCovered() {
        var starts = Self.starts(1, 2)
        let before = [(1, 7), (3, 1)].map { starts.covers($0.0, $0.1) }
        #expect(before == [true, false])
        let isTold = starts.tell(1, lastCall: 9)
        #expect(isTold)
        let covered = [9, 10].map { starts.covers(1, $0) }
        #expect(covered == [true, false])
        // Nobody has been told of the other one.
        let other = starts.covers(2, 100)
        #expect(other)
    }

    /// Callers who wait for room came before the news.
    @Test func callersInLineAreCovered() {
        var starts = Self.starts(1)
        _ = starts.tell(1, lastCall: nil)
        let inLine = starts.covers(1, 100)
        starts.noteNoCaller(lastCall: 120)
        let later = [120, 121].map { starts.covers(1, $0) }
        #expect(inLine && later == [true, false])
    }

    @Test func aCardThatHasFollowedIsCertain() {
        var starts = Self.starts(1)
        starts.resolve(1)
        let isTold = starts.tell(1, lastCall: 5)
        let isCovered = starts.covers(1, 1)
        #expect(!isTold && !isCovered)
    }

    @Test func afterTheNewsNothingIsCovered() {
        var starts = Self.starts(1, 2)
        _ = starts.tell(1, lastCall: 5)
        _ = starts.tell(2, lastCall: 6)
        starts.endTelling()
        let covered = [(1, 6), (2, 6), (1, 5), (2, 7), (2, 3)].map { starts.covers($0.0, $0.1) }
        #expect(covered == [false, true, true, false, false], "the last call has come")
    }
}
