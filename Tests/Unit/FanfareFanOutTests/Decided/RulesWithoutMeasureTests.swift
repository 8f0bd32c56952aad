import FanfareDecisions
import FanfareFanOut
import FanfareModel
import Testing

/// A program may set any duration: both stages accept it.
@Suite struct RulesWithoutMeasureTests {
    private let start = FeedTime(seconds: 1_526_220_000)

    private func set(
        _ seconds: Int64, _ patch: JSONObject, lifecycle: FeedEvent.Lifecycle? = nil
    ) -> FeedEvent {
        FeedEvent(
            topic: TopicID("order/1"), topicKind: .generic, at: start + .seconds(seconds),
            kind: lifecycle == nil ? "patch" : "end", lifecycle: lifecycle, change: .patch(patch))
    }

    @Test func rulesWithBoundlessDurationsDecideAndPublish() {
        let ever = Duration.seconds(Int64.max)
        var rules = TopicRules(
            alerts: .init(requested: AlertRule(.ordinary, burst: 1, refill: ever, freshFor: ever)),
            pace: .init(minimumInterval: ever, staleAfter: .fixed(ever), lateAfter: ever),
            lifetime: .init(beginsWithin: ever, endsAfterSilence: ever, dismissal: .after(ever), forgetAfter: ever))
        rules.occasions["x"] = OccasionRule(
            when: [Condition("x", .present(true))], essential: true,
            alert: AlertRule(.essential, burst: 1, refill: ever, freshFor: ever, words: .init(title: "x")))
        var core = DecisionCore(rules: Rules(kinds: [:], other: rules), isLive: false)
        var decisions: [Decision] = []
        core.apply(set(0, ["n": 1]), now: start, into: &decisions)
        core.apply(set(1, ["n": 2]), now: start + .seconds(1), into: &decisions)
        core.apply(set(2, ["x": 3]), now: start + .seconds(2), into: &decisions)
        core.apply(set(-5000, ["y": 3]), now: start + .seconds(3), into: &decisions)
        core.apply(set(4, [:], lifecycle: .end), now: start + .seconds(4), into: &decisions)
        let publications = decisions.compactMap { if case .publish(let publication) = $0 { publication } else { nil } }
        #expect(publications.map(\.event) == [.update, .update, .end])
        let shard = Shard()
        for publication in publications {
            shard.apply(.publish(publication), at: Moment(wallMilliseconds: 1 << 41, monotonicNanoseconds: 1 << 60))
        }
    }
}
