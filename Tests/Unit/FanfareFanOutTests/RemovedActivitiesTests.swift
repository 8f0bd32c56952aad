import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct RemovedActivitiesTests {
    private static func entry(_ number: Int) -> RemovedActivities.Entry {
        RemovedActivities.Entry(id: UInt64(number), token: UInt64(number) + 1)
    }

    /// The core is told of each once, and of few before it asks.
    @Test(arguments: [0, 1, 1023, 1024, 1025, 50_000]) func eachRemovedActivityIsToldOnce(count: Int) {
        var removed = RemovedActivities()
        for number in 0..<count { removed.append(Self.entry(number)) }
        #expect(removed.count == count)
        var told: Set<UInt64> = []
        var last: UInt64?
        while let entry = removed.next() {
            #expect(
                told.insert(entry.id).inserted && entry.token == entry.id + 1 && entry.id == (last.map { $0 + 1 } ?? 0))
            last = entry.id
        }
        #expect(told.count == min(count, RemovedActivities.unansweredMax) && removed.violation() == nil)
        for _ in 0..<count {
            removed.noteAsked()
            guard let entry = removed.next() else { continue }
            #expect(told.insert(entry.id).inserted && entry.id == (last ?? 0) + 1)
            last = entry.id
        }
        #expect(told.count == count && removed.count == 0)
    }

    /// More come while the core asks.
    @Test func noRemovedActivityIsForgottenWhileMoreCome() {
        var random = SplitMix64(seed: 1)
        var removed = RemovedActivities()
        var (next, unanswered) = (0, 0)
        var told: Set<UInt64> = []
        while told.count < 100_000 {
            for _ in 0..<Int.random(in: 0..<3000, using: &random) where next < 100_000 {
                removed.append(Self.entry(next))
                next += 1
            }
            while let entry = removed.next() {
                #expect(told.insert(entry.id).inserted)
                unanswered += 1
            }
            #expect(unanswered <= RemovedActivities.unansweredMax)
            let asked = Int.random(in: 0...unanswered, using: &random)
            for _ in 0..<asked { removed.noteAsked() }
            unanswered -= asked
        }
        #expect(removed.count == 0)
    }
}
