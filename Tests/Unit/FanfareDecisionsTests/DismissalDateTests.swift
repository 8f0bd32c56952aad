import FanfareDecisions
import FanfareModel
import Testing

/// Rule L3: a date in the rules is one of the wall clock, from which log time may be hours away.
@Suite struct L3DismissalDateTests {
    private static let hour = 3600.0
    private let orders = PatchFeed()

    private static func rules(dismissingAt date: FeedTime) -> Rules {
        var rules = TopicRules.generic
        rules.lifetime.dismissal = .at(date)
        rules.lifetime.forgetAfter = .seconds(600)
        return Rules(kinds: [:], other: rules)
    }

    /// A live story whose log time is eight hours behind the wall clock: an order begins, and ends a minute later.
    private func laggingStory(_ rules: Rules) -> Scripted {
        var story = Scripted(rules: rules, isLive: true)
        story.apply(orders.set(8 * Self.hour, ["eta": 1]), now: at(0), wall: at(8 * Self.hour))
        story.apply(orders.end(8 * Self.hour + 60), now: at(60), wall: at(8 * Self.hour + 60))
        return story
    }

    @Test func aPublicationOfALiveFeedHasTheDate() {
        let date = at(9 * Self.hour)
        let story = laggingStory(Self.rules(dismissingAt: date))
        #expect(story.publications.map(\.event) == [.update, .end])
        #expect(story.publications.map(\.dismissal) == [nil, .at(date)])
        #expect(story.publications.map(\.expiry.dismissal) == [.at(date), .at(date)])
    }

    /// An hour of the wall clock remains until the dismissal, less a minute.
    @Test func aTopicIsForgottenSomeTimeAfterTheDate() {
        var story = laggingStory(Self.rules(dismissingAt: at(9 * Self.hour)))
        let forgottenAt = 60 + Self.hour - 60 + 600
        story.advance(to: at(forgottenAt - 1))
        #expect(story.forgotten.isEmpty)
        story.advance(to: at(forgottenAt))
        #expect(story.forgotten == ["order/1"])
    }

    @Test func aPublicationOfARecordedFeedHasTheDurationUntilTheDate() {
        var story = Scripted(rules: Self.rules(dismissingAt: at(1800)))
        story.apply(orders.set(0, ["eta": 1]))
        story.apply(orders.end(60))
        #expect(story.publications.map(\.dismissal) == [nil, .after(.seconds(1740))])
        #expect(story.publications.map(\.expiry.dismissal) == [.after(.seconds(1800)), .after(.seconds(1740))])
    }

    @Test func aRestoredPublicationHasTheDate() throws {
        let date = at(9 * Self.hour)
        let rules = Self.rules(dismissingAt: date)
        let story = laggingStory(rules)
        let restored = try CheckpointTests.restored(CheckpointTests.rows(of: story.core), rules: rules)
        #expect(restored.core.newestPublications.map(\.dismissal) == [.at(date)])
        #expect(restored.core.newestPublications.map(\.expiry.dismissal) == [.at(date)])
    }

    /// A checkpoint has the time of the end, so that a restart knows what is left.
    @Test func aRestoredEndHasWhatIsLeftOfItsDismissal() throws {
        var story = Scripted(rules: .builtIn, isLive: true)
        story.apply(orders.set(0, ["eta": 1]))
        story.apply(orders.end(60))
        let restored = try CheckpointTests.restored(
            CheckpointTests.rows(of: story.core), rules: .builtIn, isLive: true)
        for core in [story.core, restored.core] {
            let newest = core.newestPublications
            #expect(newest.map(\.dismissal) == [.after(.seconds(900))])
            #expect(core.later(newest, at: at(360)).map(\.dismissal) == [.after(.seconds(600))])
            #expect(core.later(newest, at: at(0)).map(\.dismissal) == [.after(.seconds(900))])
            #expect(core.later(newest, at: at(86_400)).map(\.dismissal) == [.after(.zero)])
            #expect(newest.map { core.dismissalEnd(of: $0) } == [at(960)])
            #expect(core.later(newest, at: at(86_400)).map { core.dismissalEnd(of: $0) } == [at(960)])
        }
    }

    /// The topic shows nothing of its new tenure, because an operator has paused it.
    @Test func theEndOfAnEarlierTenureHasWhatWasLeftWhenTheTopicBeganAgain() {
        var rules = Rules.builtIn
        rules.other.lifetime.reopens = .afresh
        var story = Scripted(rules: rules)
        story.apply(orders.set(0, ["eta": 1]))
        story.apply(orders.end(60))
        story.apply(orders.event(100, "pause", .operation(.pause)))
        story.apply(orders.event(360, "start", lifecycle: .start, .patch(["eta": 7])))
        #expect(story.publications.map(\.event) == [.update, .end] && story.topic("order/1")?.ended == false)
        #expect(story.core.newestPublications.map(\.dismissal) == [.after(.seconds(600))])
    }
}
