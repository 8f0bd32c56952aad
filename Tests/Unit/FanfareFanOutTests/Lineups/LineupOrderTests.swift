import FanfareLineup
import FanfareModel
import Testing

@testable import FanfareFanOut

/// The order of a lineup's rows is a rule: the person's own, or the schedule's.
@Suite struct LineupOrderTests {
    private func stage(_ order: LineupRules.Order = .schedule, round: Duration? = nil) -> LineupStage {
        LineupStage(lineups: LineupRules(round: round, gather: .zero, order: order))
    }

    private func minute(_ minute: Int64) -> FeedTime { FeedTime(seconds: 1_790_000_000 + 60 * minute) }

    /// The rows of a lineup as the rules say it: by time, those without one last, and by the bytes of the ids.
    private func rows(_ topics: Set<String>, _ stage: LineupStage) -> [String] {
        topics.sorted { a, b in
            let (x, y) = (stage.schedule[a]?.milliseconds ?? .max, stage.schedule[b]?.milliseconds ?? .max)
            return x == y ? Array(a.utf8).lexicographicallyPrecedes(Array(b.utf8)) : x < y
        }
    }

    /// People who pick the same topics share a lineup whatever the order of their picks, and their cards follow each change of the schedule.
    @Test(arguments: UInt64(1)...20) func picksInAnyOrderShareALineup(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        // Ids whose order by bytes is not that of their numbers, and not that of texts, where é follows z in one character and in two.
        let all = ["match/2", "match/10", "match/1", "cafz", "cafe\u{301}", "match/3"]
        let stage = stage()
        var picks: [UInt64: Set<String>] = [:]
        var shown: [UInt64: [String]] = [:]
        func isRight(_ pushes: [LineupStage.Push]) -> Bool {
            for push in pushes { shown[push.activity] = push.shown }
            return pushes.allSatisfy { $0.shown == rows(picks[$0.activity] ?? [], stage) }
        }
        func plan(_ topic: String) {
            stage.schedule[topic] = Bool.random(using: &random) ? minute(Int64.random(in: 0..<3, using: &random)) : nil
        }
        for activity in UInt64(1)...60 {
            let picked = all.shuffled(using: &random).prefix(Int.random(in: 2...4, using: &random))
            picks[activity] = Set(picked)
            stage.follow(Array(picked), activity: activity)
            if activity == 30 {
                for topic in all {
                    plan(topic)
                    stage.publish(topic)
                }
            }
        }
        let counts = stage.shard.statistics.lineups
        #expect(counts.activities == 60 && counts.distinct == Set(picks.values).count, "seed \(seed)")
        // Of a failure only the seed is printed: the pushes are many.
        let begins = isRight(stage.pass(seconds: 60))
        #expect(begins, "seed \(seed)")
        for _ in 0..<30 {
            let topic = all.randomElement(using: &random) ?? ""
            plan(topic)
            if Bool.random(using: &random) { stage.goal(topic) } else { stage.detail(topic) }
            let goesOn = isRight(stage.pass(seconds: 60))
            #expect(goesOn, "seed \(seed)")
            #expect(stage.shard.violatedInvariant() == nil, "seed \(seed)")
        }
        for (activity, topics) in picks { #expect(shown[activity] == rows(topics, stage), "seed \(seed)") }
        #expect(stage.shard.statistics.lineups == counts, "seed \(seed): a changed time makes no lineup")
    }

    @Test func aPersonsOwnOrderStays() {
        let stage = stage(.person)
        for (place, topic) in ["c", "a", "b"].enumerated() { stage.schedule[topic] = minute(Int64(-place)) }
        stage.follow(["b", "c", "a"])
        stage.follow(["a", "b", "c"], activity: 2)
        for topic in ["a", "b", "c"] { stage.publish(topic) }
        let pushes = stage.pass(seconds: 10)
        for (activity, picks) in [(1, ["b", "c", "a"]), (2, ["a", "b", "c"])] as [(UInt64, [String])] {
            let shown = pushes.filter { $0.activity == activity }.map(\.shown)
            #expect(shown.last == picks && shown.allSatisfy { $0 == picks.filter($0.contains) })
        }
        #expect(stage.shard.statistics.lineups.distinct == 2)
    }

    /// A postponed match: one silent push to those whose rows move, and none to others.
    @Test func aChangedTimeIsOnePush() {
        let stage = stage()
        (stage.schedule["a"], stage.schedule["b"], stage.schedule["c"]) = (minute(1), minute(2), minute(4))
        stage.follow(["c", "b", "a"])
        stage.follow(["b", "c"], activity: 2)
        for topic in ["a", "b", "c"] { stage.publish(topic) }
        #expect(stage.pass(seconds: 60).last { $0.activity == 1 }?.shown == ["a", "b", "c"])
        // The time changes twice before anybody is visited.
        for time in [9, 3] as [Int64] {
            stage.schedule["b"] = minute(time)
            stage.detail("b")
        }
        stage.schedule["a"] = minute(5)
        stage.detail("a")
        let pushes = stage.pass(seconds: 60)
        #expect(pushes.filter { $0.activity == 1 }.map(\.shown) == [["b", "c", "a"]])
        #expect(pushes.allSatisfy { $0.payload.alert == nil && $0.payload.priority == .conserving })
        stage.schedule["c"] = nil
        stage.detail("c")
        #expect(stage.pass(seconds: 60).map(\.shown) == [["b", "a", "c"]], "unknown again; the others' rows stay")
    }

    @Test func theSamePicksAgainAreNoPush() {
        let stage = stage()
        stage.follow(["a", "b", "c"])
        for topic in ["a", "b", "c"] { stage.publish(topic) }
        _ = stage.pass(seconds: 60)
        stage.move(["c", "a", "b"])
        #expect(stage.pass(seconds: 60).isEmpty, "they are shown in the same order")
        stage.move(["c", "a", "b"], favourite: "a")
        #expect(stage.pass(seconds: 60).count == 1, "another favourite is another selection")
        stage.follow(["b", "c", "a"], favourite: "a", activity: 2)
        stage.follow(["b", "c", "a"], favourite: "b", activity: 3)
        #expect(stage.pass(seconds: 60).map(\.spotlight).sorted { $0 ?? "" < $1 ?? "" } == ["a", "b"])
        #expect(stage.shard.statistics.lineups.distinct == 2 && stage.shard.violatedInvariant() == nil)
    }

    /// Of equals the first row has the spotlight, and a cycle goes down the rows.
    @Test func theSpotlightFollowsTheRows() {
        let stage = stage(round: .seconds(30))
        (stage.schedule["a"], stage.schedule["b"], stage.schedule["c"]) = (minute(3), minute(1), minute(2))
        for topic in ["a", "b", "c"] { stage.publish(topic) }
        stage.follow(["a", "b", "c"])
        #expect(stage.pass(seconds: 1).map(\.spotlight) == ["b"])
        #expect(stage.pass(seconds: 95).map(\.spotlight) == ["c", "a", "b"])
    }

    /// Rows without room are the end of the list.
    @Test func theLastRowsAreLeftOut() {
        let stage = stage()
        let topics = (0..<60).map { "match/\($0)" }
        for (place, topic) in topics.enumerated() { stage.schedule[topic] = minute(Int64(60 - place)) }
        for topic in topics { stage.publish(topic) }
        stage.follow(topics)
        let push = stage.pass(seconds: 1).first
        #expect(push.map { !$0.shown.isEmpty && $0.shown == Array(topics.reversed().prefix($0.shown.count)) } == true)
        #expect(push?.content.map { $0.more > 0 } == true)
    }
}
