import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct FreshnessTableTests {
    @Test func kindsBeyondTheFirstFewAreCountedTogether() {
        var table = FreshnessTable()
        let kinds = (0..<40).map { TopicKind("kind \($0)") }
        let indices = kinds.map { table.index(of: $0) }
        #expect(Array(indices.prefix(Freshness.kindsMax)) == Array(0..<Freshness.kindsMax))
        #expect(Set(indices.dropFirst(Freshness.kindsMax)) == [Freshness.kindsMax])
        let again = kinds.map { table.index(of: $0) }
        #expect(indices == again && table.violation() == nil)
        let report = table.report(oldestArrival: nil, at: 0)
        #expect(report.kinds.count == Freshness.kindsMax + 1 && report.kinds[.other] != nil)
    }

    @Test func lineupsKeepTheirFigures() {
        var table = FreshnessTable()
        let first = table.indexOfLineups()
        let match = table.index(of: TopicKind("football"))
        let second = table.indexOfLineups()
        #expect(first == second && match != first)
        table.noteSweep(30, of: second)
        #expect(table.report(oldestArrival: nil, at: 0).kinds[.lineup]?.sweep.count == 1)
    }

    @Test func eachFigureIsThatOfItsKind() {
        var table = FreshnessTable()
        let (a, b) = (table.index(of: TopicKind("a")), table.index(of: TopicKind("b")))
        table.noteStateAge(10, times: 3, of: a)
        table.noteLaneDelay(20, lane: 1, of: b)
        let kinds = table.report(oldestArrival: nil, at: 0).kinds
        #expect(kinds[TopicKind("a")]?.stateAge.count == 3 && kinds[TopicKind("b")]?.stateAge.count == 0)
        #expect(kinds[TopicKind("a")]?.laneDelay.map(\.count) == [0, 0, 0])
        #expect(kinds[TopicKind("b")]?.laneDelay.map(\.count) == [0, 1, 0])
    }

    @Test func oldestUndeliveredIsAnAge() {
        var table = FreshnessTable()
        #expect(table.report(oldestArrival: nil, at: 100).oldestUndelivered == .zero)
        #expect(table.report(oldestArrival: 70, at: 100).oldestUndelivered == .nanoseconds(30))
        #expect(table.report(oldestArrival: nil, at: 100).lastAccepted == nil)
        table.noteAccepted(at: 90)
        #expect(table.report(oldestArrival: nil, at: 100).lastAccepted == 90)
    }
}
