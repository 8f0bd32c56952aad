import FanfareFanOut
import FanfareModel
import Testing

/// A push to a lineup of one member is joined when it is read; one to several members is made once for all of them.
@Suite struct PayloadReuseTests {
    private func stage(members: Int = 1) -> LineupStage {
        let stage = LineupStage()
        for member in 1...members { stage.follow(["a", "b"], activity: UInt64(member)) }
        stage.publish("a")
        stage.publish("b")
        _ = stage.pass(seconds: 60)
        return stage
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func nothingIsKeptOfAPushToOneMember() {
        let stage = stage()
        stage.goal("a")
        weak let first = stage.pushes().first?.payload
        #expect(first == nil)
        _ = stage.pass(seconds: 60)
        stage.goal("b")
        let next = stage.pushes()
        #expect(next.map(\.spotlight) == ["b"])
        #expect(next.first?.payload.alert?.title == "goal 1 in b")
    }

    @Test func keptPayloadKeepsItsBytes() {
        let stage = stage()
        stage.goal("a")
        let kept = stage.pushes().map(\.payload)
        let said = kept.map(\.state).map(text)
        _ = stage.pass(seconds: 60)
        stage.goal("b")
        #expect(stage.pushes().map(\.spotlight) == ["b"])
        #expect(said.count == 1 && kept.map(\.state).map(text) == said)
        #expect(kept.first?.alert?.title == "goal 1 in a")
    }

    /// The first member's push is long gone, and another lineup's after it, when the second member's leaves.
    @Test func aPayloadThatTheAudienceKeepsForOtherMembersIsNotWrittenOver() {
        let stage = stage(members: 2)
        stage.follow(["c", "b"], activity: 3)
        stage.publish("c")
        _ = stage.pass(seconds: 60)
        stage.point("a")
        var shown = stage.pull(limit: 1).map(\.shown)
        stage.goal("c")
        shown += stage.pull(limit: 1).map(\.shown)
        shown += stage.pull(limit: 1).map(\.shown)
        #expect(shown == [["a", "b"], ["c", "b"], ["a", "b"]])
        stage.answer(.accepted)
        #expect(stage.shard.isQuiet)
    }
}
