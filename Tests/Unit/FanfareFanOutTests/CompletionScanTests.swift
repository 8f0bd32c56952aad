import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// The search for the few followers that lack a version.
@Suite struct CompletionScanTests {
    private static let before = FeedTime(milliseconds: 10_000)

    private static func stage(members: Int) -> EmbeddedShard {
        let shard = Shard()
        shard.keepClaims()
        shard.reportCompletions(besideOthers: false)
        let stage = EmbeddedShard(shard)
        for number in 0..<members { stage.follow("card \(number)", token: UInt8(number % 251)) }
        stage.apply(.followed(before: before, sent: before + .milliseconds(-1)))
        return stage
    }

    private static func publish(_ version: Int64, on stage: EmbeddedShard) {
        stage.publish(
            Publication.test(
                stage.nextSerial(), of: stage.topic, numbered: TopicNumber(place: 0, birth: 1), kind: .generic,
                state: ["score": .int(version)]))
    }

    /// Lets pushes leave now, and throttles those to the first activities.
    private static func serve(_ stage: EmbeddedShard, throttling count: Int) {
        while case let pushes = stage.pull(limit: 4096), !pushes.isEmpty {
            stage.answer(pushes, by: { Int($0.slot.rawValue) < count ? .throttled : .accepted })
        }
    }

    /// Lets completions be gathered, and returns those that the core gets. Nothing is pulled meanwhile.
    private static func completions(_ stage: EmbeddedShard) -> [TopicCompletion] {
        stage.pass(CompletionBook.gathering)
        stage.shard.retries.completionScan.run(at: stage.moment)
        return stage.feedback().flatMap {
            if case .topicsCompleted(let completions) = $0 { completions } else { [TopicCompletion]() }
        }
    }

    @Test func nothingIsSearchedForWithoutAStore() {
        let stage = EmbeddedShard()
        for number in 0..<3 { stage.follow("card \(number)", token: UInt8(number)) }
        stage.publish(1)
        Self.serve(stage, throttling: 1)
        #expect(stage.shard.retries.completionScan.due == nil)
    }

    @Test func aFollowerThatLacksTheVersionIsFoundAfterAnInterval() {
        let stage = Self.stage(members: 3)
        let scan = stage.shard.retries.completionScan
        #expect(scan.due == nil, "nobody lacks anything")
        Self.publish(1, on: stage)
        Self.serve(stage, throttling: 1)
        #expect(scan.due == stage.moment.monotonic + CompletionScan.interval)
        stage.pass(CompletionScan.interval)
        scan.run(at: stage.moment)
        let found = Self.completions(stage)
        #expect(found.map(\.publication.version) == [1] && found.first?.before == Self.before)
        #expect(found.first?.exceptions == [stage.shard.membership.claims.mark(of: ActivitySlot(0))])
        #expect(scan.violation() == nil && stage.shard.violatedInvariant() == nil)
    }

    @Test(arguments: [TopicCompletion.exceptionsMax, TopicCompletion.exceptionsMax + 1])
    func aVersionThatTooManyLackIsNotComplete(lacking: Int) {
        let stage = Self.stage(members: 300)
        Self.publish(1, on: stage)
        Self.serve(stage, throttling: lacking)
        stage.pass(CompletionScan.interval)
        stage.shard.retries.completionScan.run(at: stage.moment)
        let isFound = lacking <= TopicCompletion.exceptionsMax
        #expect(Self.completions(stage).map(\.exceptions.count) == (isFound ? [lacking] : []))
    }

    /// The members of a large audience are visited in several turns, between which a version may come.
    @Test(arguments: [false, true]) func aPassOfSeveralTurnsSaysNothingOfAVersionThatWasReplaced(isReplaced: Bool) {
        let stage = Self.stage(members: 17_000)
        let scan = stage.shard.retries.completionScan
        Self.publish(1, on: stage)
        Self.serve(stage, throttling: 1)
        stage.pass(CompletionScan.interval)
        scan.run(at: stage.moment)
        #expect(scan.due == MonotonicTime.always && scan.violation() == nil, "the pass goes on in the next turn")
        if isReplaced { Self.publish(2, on: stage) }
        scan.run(at: stage.moment)
        #expect(scan.violation() == nil)
        #expect(Self.completions(stage).map(\.publication.version) == (isReplaced ? [] : [1]))
    }
}
