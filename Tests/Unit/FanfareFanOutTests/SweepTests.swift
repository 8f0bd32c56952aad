import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct SweepTests {
    /// A new version is published before each answer, and half of the audience fits on the network: the halves alternate.
    @Test func versionsFasterThanAnswersStarveNoMember() {
        let stage = EmbeddedShard()
        for member in UInt64(0)..<100 { stage.apply(.follow(ActivityID(member), .topic(stage.topic), token: [1])) }
        var served: [ActivitySlot: Int] = [:]
        for _ in 1...20 {
            stage.pass(seconds: 1)
            let version = stage.nextSerial()
            stage.publish(Publication.test(version, kind: .generic))
            stage.answerAll()
            #expect(stage.shard.violatedInvariant() == nil)
            let pushes = stage.pull(limit: 50)
            #expect(pushes.allSatisfy { $0.payload.serial == version }, "measurements go by it")
            for push in pushes { served[push.slot, default: 0] += 1 }
        }
        #expect(served.count == 100)
        #expect(served.values.allSatisfy { $0 == 10 })
    }

    /// A state that all members have is not sent again, unless an operator republishes it.
    @Test func aRepublishedStateReachesThoseWhoHaveIt() {
        let stage = EmbeddedShard()
        for member in UInt64(0)..<3 { stage.apply(.follow(ActivityID(member), .topic(stage.topic), token: [1])) }
        func pushes(isRepublished: Bool = false) -> Int {
            stage.pass(seconds: 1)
            stage.publish(
                Publication.test(
                    stage.nextSerial(), kind: .generic, state: ["score": 1], priority: .conserving,
                    isRepublished: isRepublished))
            let pushes = stage.pull()
            stage.answer(pushes)
            #expect(stage.shard.violatedInvariant() == nil)
            return pushes.count
        }
        #expect(pushes() == 3)
        #expect(pushes() == 0)
        #expect(pushes(isRepublished: true) == 3)
        #expect(pushes() == 0)
    }
}
