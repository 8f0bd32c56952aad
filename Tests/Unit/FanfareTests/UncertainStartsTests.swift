import FanfareModel
import Testing

@testable import Fanfare

@Suite struct UncertainStartsTests {
    private static func starts(_ cards: UInt64...) -> UncertainStarts { UncertainStarts(cards) }

    @Test func callsFromBeforeTheNewsAreCovered() {
        var starts = Self.starts(1, 2)
        let before = [(1, 7), (3, 1)].map { starts.covers($0.0, $0.1) }
        #expect(before == [true, false])
        let isTold = starts.noteReport(of: 1, lastCall: 9, callers: nil)
        #expect(isTold)
        let covered = [9, 10].map { starts.covers(1, $0) }
        #expect(covered == [true, false])
        // Nobody has been told of the other one.
        let other = starts.covers(2, 100)
        #expect(other)
    }

    /// Callers who waited for room at the news came before it; those behind them did not.
    @Test func callersInLineAtTheNewsAreCovered() {
        var starts = Self.starts(1, 2)
        var served: UInt64 = 0
        func note(lastCall: UInt64) {
            starts.noteAdmitted(lastCall: lastCall) { $0.changes > served }
        }
        _ = starts.noteReport(of: 1, lastCall: 90, callers: .init(requests: 0, changes: 4))
        _ = starts.noteReport(of: 2, lastCall: 90, callers: .init(requests: 0, changes: 6))
        served = 3
        note(lastCall: 100)
        let inLine = [starts.covers(1, 100), starts.covers(2, 100)]
        #expect(inLine == [true, true])
        // The fourth caller is in the mailbox as call 103. A line that never empties keeps no card any longer.
        served = 4
        note(lastCall: 103)
        let first = [103, 104].map { starts.covers(1, $0) }
        let other = starts.covers(2, 104)
        #expect(first == [true, false] && other)
        served = 9
        note(lastCall: 120)
        let second = [120, 121].map { starts.covers(2, $0) }
        #expect(second == [true, false])
    }

    @Test func aCardThatHasFollowedIsCertain() {
        var starts = Self.starts(1)
        starts.resolve(1)
        let isTold = starts.noteReport(of: 1, lastCall: 5, callers: nil)
        let isCovered = starts.covers(1, 1)
        #expect(!isTold && !isCovered)
    }

    @Test func afterTheNewsNothingIsCovered() {
        var starts = Self.starts(1, 2)
        _ = starts.noteReport(of: 1, lastCall: 5, callers: nil)
        _ = starts.noteReport(of: 2, lastCall: 6, callers: nil)
        starts.endReports()
        let covered = [(1, 6), (2, 6), (1, 5), (2, 7), (2, 3)].map { starts.covers($0.0, $0.1) }
        #expect(covered == [false, true, true, false, false], "the last call has come")
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func numbersOfCallsAgreeWhateverComesNext(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var starts = UncertainStarts(Array(0..<50))
        var (lastCall, begun, admitted): (UInt64, UInt64, UInt64) = (0, 0, 0)
        for card in UInt64(0)..<50 {
            lastCall += UInt64.random(in: 0..<3, using: &random)
            begun += UInt64.random(in: 0..<3, using: &random)
            let callers = begun > admitted ? CallerArrivals(requests: 0, changes: begun) : nil
            _ = starts.noteReport(of: card, lastCall: lastCall, callers: callers)
            if Bool.random(using: &random) { starts.resolve(UInt64.random(in: 0..<50, using: &random)) }
            admitted = UInt64.random(in: admitted...begun, using: &random)
            let served = admitted
            starts.noteAdmitted(lastCall: lastCall) { $0.changes > served }
            _ = starts.covers(card, lastCall)
            let violation = starts.violation()
            #expect(violation == nil, "seed \(seed), card \(card)")
        }
        starts.endReports()
        starts.noteAdmitted(lastCall: lastCall) { _ in false }
        let isCovered = starts.covers(49, lastCall + 1)
        #expect(!isCovered && starts.violation() == nil, "seed \(seed)")
    }
}
