import FanfareDecisions
import FanfareFeeds
import FanfareJSON
import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct TopicStatesTests {
    /// Topics of these numbers, in the order in which they began.
    private func topics(_ numbers: ClosedRange<Int>) -> [TopicView] {
        var core = DecisionCore(rules: .builtIn, isLive: false)
        var decisions: [Decision] = []
        let now = FeedTime(seconds: 1_790_000_000)
        for number in numbers {
            core.apply(
                FeedEvent(
                    topic: TopicID("board/\(number)"), topicKind: .generic, at: now, kind: "patch",
                    change: .patch(["n": .int(Int64(number))])), now: now, into: &decisions)
        }
        return Array(core.topics)
    }

    private func names(_ lines: [[UInt8]]) -> [String] {
        lines.compactMap { JSONObject(parsing: $0.filter { $0 != UInt8(ascii: "\n") })?["topic"]?.stringValue }
    }

    @Test func forgottenTopicsStandAmongTheOthersInOrderOfAppearance() {
        let all = topics(1...4)
        var states = TopicStates(keepsForgotten: true)
        states.note(forgotten: all[2])
        states.note(forgotten: all[0])
        #expect(names(states.lines(with: [all[3], all[1]])) == ["board/1", "board/2", "board/3", "board/4"])
    }

    @Test func forgottenTopicsAreLeftOutWhereNobodyWantsToKnow() {
        let all = topics(1...2)
        var states = TopicStates(keepsForgotten: false)
        states.note(forgotten: all[0])
        #expect(names(states.lines(with: [all[1]])) == ["board/2"])
    }
}
