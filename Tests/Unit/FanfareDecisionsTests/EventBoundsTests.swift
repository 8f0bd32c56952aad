import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct EventBoundsTests {
    private let bounds = EventBounds(Rules.Limits())

    private func event(
        topic: String = "match/1", at: FeedTime = FeedTime(seconds: 1_700_000_000), id: String? = nil,
        kind: String = "goal"
    ) -> FeedEvent {
        FeedEvent(topic: TopicID(topic), at: at, id: id, kind: kind)
    }

    @Test func anEventWithinAllBoundsHasNoFault() {
        let reason = bounds.fault(of: event(id: String(repeating: "i", count: 128)))?.reason
        #expect(reason == nil)
    }

    @Test func aTopicWithoutAnIDIsNotNamedInTheRecord() throws {
        let fault = try #require(bounds.fault(of: event(topic: "")))
        #expect(fault.reason.hasSuffix("not 0") && fault.topic == nil)
    }

    @Test func everyOtherFaultNamesTheTopic() throws {
        let long = String(repeating: "i", count: 129)
        let reasons = try [event(at: FeedTime(milliseconds: -1)), event(id: long), event(kind: long)].map { event in
            let fault = try #require(bounds.fault(of: event))
            #expect(fault.topic == TopicID("match/1"))
            return fault.reason
        }
        #expect(reasons[0] == implausible(FeedTime(milliseconds: -1)))
        #expect(reasons[1].hasPrefix("an event's id has at most") && reasons[2].hasPrefix("a kind has at most"))
    }

    @Test func aRefusalLeavesOutNamesThatAreTooLongAndATimeThatNoFeedHas() {
        let long = String(repeating: "i", count: 129)
        let refused = event(at: FeedTime(milliseconds: -1), id: long, kind: long)
        let record = bounds.refusal(of: refused, "why", topic: nil, now: FeedTime(seconds: 7))
        #expect(record.outcome == .rejected && record.reason == "why" && record.now == FeedTime(seconds: 7))
        #expect(record.id == nil && record.kind == "unreadable" && record.at == nil && record.topic == nil)
    }
}
