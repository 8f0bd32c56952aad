import Fanfare
import FanfareFeeds
import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct ReplayPlanTests {
    private static let topics = [TopicID("match/1"), TopicID("match/2")]
    private static let scan = FeedScan(topics: topics, events: 90, skippedFiles: ["notes.txt"])

    private func recorded(_ configure: (inout ReplayOptions) -> Void = { _ in }) throws -> ReplayPlan {
        var options = ReplayOptions(paths: ["day.ndjson"])
        configure(&options)
        return try ReplayPlan(options, scan: Self.scan)
    }

    private func live(_ configure: (inout ReplayOptions) -> Void = { _ in }) throws -> ReplayPlan {
        var options = ReplayOptions(paths: ["-"])
        configure(&options)
        return try ReplayPlan(options, scan: nil)
    }

    /// Reason why a plan's options are refused; `nil` if they are taken.
    private func fault(_ make: () throws -> ReplayPlan) -> String? {
        do {
            _ = try make()
            return nil
        } catch { return "\(error)" }
    }

    @Test func recordedFeedIsKnownBeforehand() throws {
        let plan = try recorded { $0.subscribers.count = 4 }
        #expect(!plan.isLive && plan.eventsExpected == 90 && plan.skippedFiles == ["notes.txt"])
        #expect(plan.subscribers.topics == Self.topics && plan.liveAudience == nil)
        #expect(plan.goalsMax == .max)
    }

    @Test func liveFeedIsNotKnownBeforehand() throws {
        let plan = try live { $0.subscribers.count = 4 }
        #expect(plan.isLive && plan.eventsExpected == nil && plan.skippedFiles == [])
        #expect(plan.subscribers.topics == [] && plan.liveAudience != nil)
        #expect(plan.goalsMax == 10_000)
        #expect(try live().liveAudience == nil, "of nobody")
    }

    @Test func liveFeedIsTakenWhenItComesWhateverTheSpeed() throws {
        func wait(_ plan: ReplayPlan) -> Duration {
            var timeScale = plan.timeScale
            _ = timeScale.wait(until: FeedTime(seconds: 0), now: MonotonicTime(nanoseconds: 0))
            return timeScale.wait(until: FeedTime(seconds: 10), now: MonotonicTime(nanoseconds: 0))
        }
        #expect(try wait(recorded { $0.timetable.speed = .times(2) }) == .seconds(5))
        #expect(try wait(live { $0.timetable.speed = .times(2) }) == .zero)
    }

    @Test func lineupsNeedARecordedFeed() throws {
        #expect(try recorded { $0.subscribers.lineups = 2...2 }.subscribers.lineups == 2...2)
        #expect(fault { try live { $0.subscribers.lineups = 2...2 } }?.contains("name a file, not -") == true)
    }

    @Test func previewNeedsTopicsOfTheFeed() {
        #expect(fault { try recorded { $0.preview = Self.topics } } == nil)
        let unknown = fault { try recorded { $0.preview = [Self.topics[0], TopicID("match/3")] } }
        #expect(unknown == "match/3: the feed does not speak of it, so there is no preview")
    }

    @Test func subscribersOfTopicsOutsideARecordedFeedAreNoticed() throws {
        let subscription = Subscription(
            audience: .topic(TopicID("match/3")), activity: ActivityID(1), subscriber: 1, token: [1])
        let plan = try recorded { $0.subscribers.source = SubscriberSequence([subscription], expectedCount: 1) }
        #expect(plan.strangers?.notice == nil, "none has been read")
        try plan.subscriberSource?.read { _ in nil }
        #expect(plan.strangers?.notice == "1 activity follows topics that the feed does not speak of: match/3")
        let live = try live { $0.subscribers.source = SubscriberSequence([subscription], expectedCount: 1) }
        #expect(live.strangers == nil && live.subscriberSource?.expectedCount == 1)
    }

    @Test func fileThatIsNotThereIsAFault() {
        #expect(fault { try ReplayPlan(ReplayOptions(paths: ["/nowhere/day.ndjson"])) }?.contains("nowhere") == true)
    }
}
