import FanfareCore
import Testing

/// A push to a lineup of one member is written over the one before it.
@Suite struct PayloadReuseTests {
    private func stage(members: Int = 1) -> Stage {
        let stage = Stage()
        for member in 1...members { stage.follow(["a", "b"], activity: UInt64(member)) }
        stage.publish("a")
        stage.publish("b")
        _ = stage.pass(seconds: 60)
        return stage
    }

    private func address(_ bytes: [UInt8]?) -> Int? {
        bytes?.withUnsafeBufferPointer { $0.baseAddress.map(Int.init(bitPattern:)) }
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func whatNobodyKeepsIsWrittenOver() {
        let stage = stage()
        stage.goal("a")
        weak let first = stage.pushes().first?.payload
        let room = address(first?.state)
        _ = stage.pass(seconds: 60)
        stage.goal("b")
        let next = stage.pushes()
        #expect(next.map(\.lit) == ["b"])
        #expect(next.first?.payload.alert?.title == "goal 1 in b")
        #expect(next.first?.payload === first)
        #expect(room != nil && address(next.first?.payload.state) == room)
    }

    @Test func whoKeepsAPayloadKeepsWhatItSays() {
        let stage = stage()
        stage.goal("a")
        let kept = stage.pushes().map(\.payload)
        let said = kept.map(\.state).map(text)
        _ = stage.pass(seconds: 60)
        stage.goal("b")
        #expect(stage.pushes().map(\.lit) == ["b"])
        #expect(said.count == 1 && kept.map(\.state).map(text) == said)
        #expect(kept.first?.alert?.title == "goal 1 in a")
    }

    @Test func whoKeepsTheBytesKeepsThem() {
        let stage = stage()
        stage.goal("a")
        let kept = stage.pushes().map(\.payload.state)
        let said = kept.map(text)
        _ = stage.pass(seconds: 60)
        stage.goal("b")
        #expect(stage.pushes().map(\.lit) == ["b"])
        #expect(said.count == 1 && kept.map(text) == said)
    }

    /// The first member's push is long gone when the other one's leaves, with the same payload.
    @Test func whatTheAudienceKeepsForOthersIsNotWrittenOver() {
        let stage = stage(members: 2)
        stage.follow(["b", "a"], activity: 3)
        _ = stage.pass(seconds: 60)
        stage.goal("a")
        var titles: [String: [AlertText.Line?]] = [:]
        for _ in 0..<3 {
            for push in stage.pull(limit: 1) {
                titles[push.shown.joined(), default: []].append(push.payload.alert?.title)
            }
            stage.answer(.accepted)
        }
        #expect(titles == ["ab": ["goal 1 in a", "goal 1 in a"], "ba": ["goal 1 in a"]])
        #expect(stage.shard.isQuiet)
    }
}
