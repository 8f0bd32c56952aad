import FanfareModel
import FanfareQueues
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct DeadTokenTests {
    private let stage = EmbeddedShard(
        Shard(feedbackMax: 32_768), at: Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1_000_000))
    private var shard: Shard { stage.shard }
    private static let members = 2000

    init() {
        for member in 0..<DeadTokenTests.members {
            stage.apply(.follow(ActivityID(UInt64(member).mixed), .topic(stage.topic), token: [1]))
        }
        publish(1)
    }

    private func publish(_ serial: UInt64) { stage.publish(Publication.test(serial, kind: .generic)) }

    /// Pulls and answers all pushes, repeatedly, until none is left.
    private func answer(_ outcome: (Int) -> DeliveryOutcome) -> Int {
        var answered = 0
        while case let pushes = stage.pull(limit: 64), !pushes.isEmpty {
            stage.answer(pushes) { _ in
                answered += 1
                return outcome(answered)
            }
        }
        return answered
    }

    private func pass(seconds: Int64) { stage.pass(seconds: seconds) }

    private func reports() -> [String] {
        stage.feedback().compactMap { if case .report(let line) = $0 { line } else { nil } }
    }

    @Test func peopleWhoEndTheirActivitiesAreRemoved() {
        #expect(answer { $0 % 3 == 0 ? .deadToken : .accepted } == DeadTokenTests.members)
        #expect(shard.statistics.activities == DeadTokenTests.members - DeadTokenTests.members / 3)
        #expect(reports().isEmpty)
        #expect(shard.isQuiet)
    }

    /// All tokens are answered as dead, as in the wrong environment: a hundred activities are lost, the others are kept and tried a few at a
    /// time. After the setting is corrected, all of these get the newest state.
    @Test func aWrongEnvironmentLosesAHundredAtMost() {
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

    @Test func deadActivitiesAreRemovedOnceDeadAnswersAreTrusted() {
        _ = answer { _ in .deadToken }
        stage.apply(.confirmDeadTokens)
        for _ in 0..<2 {
            pass(seconds: 10)
            _ = answer { _ in .deadToken }
        }
        #expect(shard.statistics.activities == 0)
        #expect(shard.isQuiet)
    }

    /// An unfollowed activity is removed with the answer even while the guard is shut; and a slot that is held is not forgotten.
    @Test func heldActivityThatIsUnfollowedIsRemoved() {
        _ = answer { _ in .deadToken }
        let kept = (0..<UInt64(DeadTokenTests.members)).map { ActivityID($0.mixed) }
        for id in kept { stage.apply(.unfollow(id)) }
        for _ in 0..<30 {
            pass(seconds: 10)
            _ = answer { _ in .deadToken }
        }
        #expect(shard.statistics.activities == 0)
        #expect(shard.isQuiet)
    }
}
