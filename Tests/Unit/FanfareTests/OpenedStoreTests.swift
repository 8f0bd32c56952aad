import FanfareLog
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

@Suite struct OpenedStoreTests {
    /// - Parameter report: receives what operators are told.
    private func open(_ claims: MemoryClaims, report: (String) -> Void = { _ in }) throws -> OpenedStore {
        let choice = StoreChoice.parts(log: MemoryLog(), people: MemoryPeopleStore(), claims: claims)
        var options = EngineOptions(transport: .discard)
        options.clock = ManualClock().source
        return try OpenedStore(choice, options, firstApp: nil, report: report)
    }

    @Test func anOpenedStoreHasReservedTheStampsOfItsProcess() throws {
        let claims = MemoryClaims()
        let opened = try open(claims)
        #expect(opened.cards.expectedCount == 0 && !opened.earlier.knowsStarts)
        let ceiling = try #require(claims.stampCeiling)
        #expect(ceiling >= ManualClock.start.milliseconds / 1000)
    }

    @Test func aClockBehindTheStampsOfTheEarlierProcessIsReported() throws {
        let claims = MemoryClaims()
        claims.append([], CompletionChanges(), stampCeiling: ManualClock.start.milliseconds / 1000 + 3600)
        var lines: [String] = []
        _ = try open(claims) { lines.append($0) }
        #expect(lines.count == 1 && lines[0].hasPrefix("the machine's clock is 3600 s behind the stamps"))
    }
}
