import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct DeadTokenTests {
    private let topic = TopicID("match")
    private var moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1_000_000)
    private let shard = Shard(feedbackMax: 32_768)
    private static let members = 2000

    init() {
        for member in 0..<DeadTokenTests.members {
            shard.apply(.follow(ActivityID(UInt64(member).mixed), .topic(topic), token: [1]), at: moment)
        }
        publish(1)
    }

    private func publish(_ serial: UInt64) {
        shard.apply(
            .publish(
                Publication(
                    serial: serial, topicID: topic, topicKind: .generic, version: UInt32(serial), event: .update,
                    state: EncodedState(["version": .int(Int64(serial))]), priority: .immediate, alert: nil,
                    staleAfter: nil, dismissAfter: nil)), at: moment)
    }

    /// Pulls and answers all pushes, repeatedly, until none is left.
    private func answer(_ outcome: (Int) -> DeliveryOutcome) -> Int {
        var answered = 0
        while true {
            var batch = DeliveryBatch()
            shard.pull(limit: 64, at: moment, into: &batch)
            if batch.deliveries.isEmpty { return answered }
            shard.complete(
                batch.deliveries.map {
                    answered += 1
                    return Completion(slot: $0.slot, generation: $0.generation, outcome: outcome(answered))
                }, at: moment)
        }
    }

    private mutating func pass(seconds: Int64) {
        moment.monotonic += .seconds(seconds)
        moment.wallMilliseconds += seconds * 1000
    }

    private func reports() -> [String] {
        let ring = OneToOneRing<ShardFeedback>(capacity: 32_768)
        var producer = ring.takeProducer()
        var consumer = ring.takeConsumer()
        _ = shard.sendFeedback(to: &producer)
        var lines: [String] = []
        while let fact = consumer.pop() { if case .report(let line) = fact { lines.append(line) } }
        return lines
    }

    @Test func peopleWhoEndTheirActivitiesAreRemoved() {
        #expect(answer { $0 % 3 == 0 ? .deadToken : .accepted } == DeadTokenTests.members)
        #expect(shard.statistics.activities == DeadTokenTests.members - DeadTokenTests.members / 3)
        #expect(reports().isEmpty)
        #expect(shard.isQuiet)
    }

    /// All tokens are answered as dead, as in the wrong environment: a hundred activities are lost, the others are kept and tried a few at a
    /// time. After the setting is corrected, all of these get the newest state.
    @Test mutating func aWrongEnvironmentLosesAHundredAtMost() {
        #expect(answer { _ in .deadToken } == DeadTokenTests.members)
        let left = DeadTokenTests.members - DeadTokenGuard().answersMin
        #expect(shard.statistics.activities > left)
        let alarms = reports()
        #expect(alarms.count == 1 && alarms[0].contains("environment") && alarms[0].contains("bundle id"))
        #expect(shard.violatedInvariant() == nil)

        publish(2)
        #expect(answer { _ in .deadToken } == 0, "nobody is asked before the time of the probes")
        for _ in 0..<3 {
            pass(seconds: 10)
            #expect(answer { _ in .deadToken } == 100)
        }
        #expect(shard.statistics.activities > left)

        var sent = 0
        for _ in 0..<30 {
            pass(seconds: 10)
            sent += answer { _ in .accepted }
        }
        #expect(sent == shard.statistics.activities)
        #expect(reports().count == 1, "that it goes on as before")
        #expect(shard.isQuiet)
        #expect(shard.violatedInvariant() == nil)
    }

    @Test mutating func deadActivitiesAreRemovedOnceDeadAnswersAreTrusted() {
        _ = answer { _ in .deadToken }
        shard.apply(.trustDeadAnswers, at: moment)
        for _ in 0..<2 {
            pass(seconds: 10)
            _ = answer { _ in .deadToken }
        }
        #expect(shard.statistics.activities == 0)
        #expect(shard.isQuiet)
    }

    /// An unfollowed activity is removed with the answer even while the guard is shut; and a slot that is held is not forgotten.
    @Test mutating func heldActivityThatIsUnfollowedIsRemoved() {
        _ = answer { _ in .deadToken }
        let kept = (0..<UInt64(DeadTokenTests.members)).map { ActivityID($0.mixed) }
        for id in kept { shard.apply(.unfollow(id), at: moment) }
        for _ in 0..<30 {
            pass(seconds: 10)
            _ = answer { _ in .deadToken }
        }
        #expect(shard.statistics.activities == 0)
        #expect(shard.isQuiet)
    }
}
