import FanfareCore
import Testing

/// Operators step in by events in the log.
@Suite struct OperatorTests {
    private let match = FootballFeed()

    private func operate(_ seconds: Double, _ operation: FeedEvent.Operation, id: String? = nil) -> FeedEvent {
        match.event(seconds, operation.rawValue, id: id, .operation(operation))
    }

    @Test func aMutedTopicIsSilent() {
        var story = Scripted()
        story.apply(match.start())
        #expect(story.apply(operate(0, .mute)).reason == "mute by an operator")
        let goal = story.apply(match.goal(10, "g1"))
        #expect(goal.outcome == .published)
        #expect(goal.alert == .demoted)
        #expect(goal.alertReason == "muted by an operator")
        #expect(story.apply(operate(20, .mute)).reason == "mute: was so already")
        story.apply(operate(30, .unmute))
        #expect(story.apply(match.goal(40, "g2")).alert == .granted)
    }

    /// Not even a goal passes; resuming shows all at once, and silently.
    @Test func aPausedTopicStandsStill() {
        var story = Scripted()
        story.apply(match.start())
        story.apply(match.card(-1, "c0"))
        story.apply(match.card(-0.5, "c1"))
        story.apply(operate(0, .pause))
        let goal = story.apply(match.goal(10, "g1"))
        #expect(goal.outcome == .conflated)
        #expect(goal.reason == "until the topic is resumed: paused by an operator")
        #expect(goal.alert == nil)
        let flush = story.records.first { $0.origin == .timer }
        #expect(flush?.reason == "paused by an operator")
        #expect(story.publications.count == 2)
        let resumed = story.apply(operate(20, .resume))
        #expect(resumed.outcome == .published)
        #expect(resumed.reason == "resume by an operator; 2 changes waited")
        #expect(resumed.causes == ["c1", "g1"])
        #expect(story.publications.last?.alert == nil)
        #expect(story.topic("match/1")?.published?["homeScore"] == 1)
        #expect(story.apply(match.goal(30, "g2")).alert == .granted)
    }

    @Test func whatWentBackDuringAPauseIsNoNews() {
        var story = Scripted()
        story.apply(match.start())
        story.apply(match.event(5, "note", .patch(["note": "a"])))
        story.apply(operate(10, .pause))
        story.apply(match.event(20, "note", .patch(["note": "b"])))
        story.apply(match.event(30, "note", .patch(["note": "a"])))
        let resumed = story.apply(operate(40, .resume))
        #expect(resumed.outcome == .unchanged)
        #expect(resumed.reason.hasSuffix("back to what version 2 shows"))
    }

    @Test func anEndPassesAPause() {
        var story = Scripted()
        story.apply(match.start())
        story.apply(operate(0, .pause))
        story.apply(match.goal(10, "g1"))
        #expect(story.apply(match.end(20)).outcome == .published)
        #expect(story.publications.last?.event == .end)
        #expect(story.apply(operate(30, .resume)).outcome == .unchanged)
        #expect(story.publications.count == 2)
    }

    @Test func anAlertInTheFeedsOwnWordsIsHeldToo() {
        var story = Scripted()
        story.apply(match.start())
        story.apply(operate(0, .pause))
        let text = AlertText(title: "t", body: "b")
        let record = story.apply(match.event(10, "note", .patch(["note": "x"]), alert: text))
        #expect(record.alert == .demoted)
        #expect(record.alertReason == "paused by an operator")
    }

    @Test func theSameOrderTwiceIsADuplicate() {
        var story = Scripted()
        story.apply(match.start())
        story.apply(operate(0, .pause, id: "o1"))
        story.apply(operate(10, .resume))
        #expect(story.apply(operate(20, .pause, id: "o1")).outcome == .duplicate)
        #expect(story.apply(match.goal(30, "g1")).outcome == .published)
    }
}
