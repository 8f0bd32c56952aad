import FanfareDecisions
import FanfareModel
import Testing

/// The time for which a topic is scheduled travels with each of its publications.
@Suite struct ScheduleTests {
    private let trips = PatchFeed()

    private var rules: Rules {
        var rules = Rules.builtIn
        rules.other.scheduledAt = "departs"
        return rules
    }

    /// A date as content states have it.
    private func date(_ seconds: Double) -> JSONValue { .double(at(seconds).activityKitSeconds) }

    /// Rules that name no field take the time of the first version, which later ones do not change.
    @Test func scheduleWithoutAFieldIsTheTimeOfTheFirstVersion() {
        var story = Scripted()
        let match = FootballFeed()
        story.apply(match.start(-600))
        story.apply(match.period(0, "1H"))
        story.apply(match.goal(600, "g1"))
        story.apply(match.end(6000))
        #expect(story.publications.map(\.scheduledAt) == Array(repeating: at(-600), count: 4))
        #expect(story.publications.last?.event == .end)
    }

    @Test func aFieldSaysTheScheduleOnceKnownAndWhenItChanges() {
        var story = Scripted(rules: rules)
        let values: [(JSONValue, FeedTime?)] = [
            ("tomorrow", nil), (date(3600.9), at(3600)), (date(7200), at(7200)), (.null, nil),
            (.int(Int64(at(60).activityKitSeconds)), at(60)), (.double(1e300), nil), (.double(-1e300), nil),
            (.int(.max), nil), (.int(.min), nil), (.bool(true), nil), (.double(at(1).activityKitSeconds * 1000), nil),
        ]
        story.apply(trips.set(0, ["gate": 1]))
        #expect(story.publications.map(\.scheduledAt) == [nil])
        for (place, (value, time)) in values.enumerated() {
            story.apply(trips.set(Double(10 * place + 10), ["departs": value, "gate": .int(Int64(place))]))
            #expect(story.publications.last?.scheduledAt == time, "\(value)")
        }
        #expect(story.publications.count == values.count + 1)
    }

    /// A hidden field does not show in the order of rows either.
    @Test func aHiddenFieldSaysNothingOfTheSchedule() {
        var rules = rules
        rules.other.content.fields["departs"] = .redacted(Redaction(.removed))
        var story = Scripted(rules: rules)
        story.apply(trips.set(0, ["departs": date(60), "gate": 1]))
        #expect(story.publications.map(\.scheduledAt) == [nil])
    }

    /// Copies that go out once more are scheduled as the publication was.
    @Test func copiesOfAPublicationKeepItsSchedule() throws {
        var story = Scripted(rules: rules)
        story.apply(trips.set(0, ["departs": date(60)]))
        let publication = try #require(story.publications.first)
        #expect(publication.silent.scheduledAt == at(60) && publication.republished(as: 9).scheduledAt == at(60))
        #expect(publication.scheduled(at: nil).scheduledAt == nil)
    }

    /// A restart sends what the shards had: by the same rules the same time, by others theirs.
    @Test func aRestartSchedulesByTheRulesThatStand() throws {
        var story = Scripted(rules: rules)
        story.apply(trips.set(0, ["departs": date(60)]))
        story.apply(PatchFeed(topic: TopicID("order/2")).set(5, ["gate": 2]))
        let rows = CheckpointTests.rows(of: story.core)
        func times(_ core: DecisionCore) -> [FeedTime?] { core.newestPublications.map(\.scheduledAt) }
        #expect(times(story.core) == [at(60), nil])
        #expect(times(try CheckpointTests.restored(rows, rules: rules).core) == [at(60), nil])
        #expect(times(try CheckpointTests.restored(rows, rules: .builtIn).core) == [at(0), at(5)])
        story.adopt(.builtIn, now: at(10))
        #expect(times(story.core) == [at(0), at(5)])
        story.adopt(rules, now: at(11))
        #expect(times(story.core) == [at(60), nil])
    }
}
