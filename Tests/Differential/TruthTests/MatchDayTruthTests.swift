import FanfareDecisions
import FanfareFeeds
import FanfareModel
import Testing

/// The generated match day needs no recordings: what was put into it must come out.
@Suite struct MatchDayTruthTests {
    @Test(arguments: [1, 42, 2026] as [UInt64])
    func generatedMatchDayIsShownAsItWasMade(seed: UInt64) throws {
        var decoder = NativeLineDecoder(name: "match day")
        var items: [FeedItem] = []
        MatchDay(seed: seed).write { decoder.decode($0, into: &items) }
        decoder.finish(into: &items)

        var core = DecisionCore(isLive: false)
        var now = FeedTime(milliseconds: 0)
        var goals: [TopicID: [String: String]] = [:]
        var cards: [TopicID: Int64] = [:]
        var seen: Set<String> = []
        var hiddenCards = 0
        for item in items {
            guard case .event(let event) = item else {
                Issue.record("seed \(seed): \(item)")
                continue
            }
            now = max(now, event.at)
            var decisions: [Decision] = []
            core.apply(event, now: now, into: &decisions)
            guard case .record(let record) = decisions.last else {
                Issue.record("seed \(seed): no record of \(event)")
                continue
            }
            switch event.change {
            case .fact(let fact) where seen.insert("\(event.topic) \(fact.id)").inserted:
                if fact.kind == "goal" {
                    #expect(record.outcome == .published, "seed \(seed): \(record)")
                    #expect(record.alert == .granted, "seed \(seed): \(record)")
                    goals[event.topic, default: [:]][fact.id] = fact.values["side"]?.stringValue
                }
                if fact.kind == "card" {
                    cards[event.topic, default: 0] += fact.values["color"] == "secondYellow" ? 2 : 1
                    if record.reason == "after end" { hiddenCards += 1 }
                }
            case .fact: #expect(record.outcome == .duplicate, "seed \(seed): \(record)")
            case .retraction(let id):
                #expect(record.outcome == .published, "seed \(seed): \(record)")
                goals[event.topic]?[id] = nil
            case .nothing, .patch, .contentState, .operation: break
            }
        }

        #expect(hiddenCards == 1)
        #expect(core.topics.count == 10)
        for topic in core.topics {
            #expect(topic.ended && topic.version >= 10, "seed \(seed): \(topic.id) has \(topic.version) versions")
            let sides = goals[topic.id, default: [:]].values
            #expect(topic.state["homeScore"]?.intValue == Int64(sides.count { $0 == "home" }), "seed \(seed)")
            #expect(topic.state["awayScore"]?.intValue == Int64(sides.count { $0 == "away" }), "seed \(seed)")
            #expect(topic.published?["homeScore"] == topic.state["homeScore"], "seed \(seed)")
            let shown = ["homeYellow", "awayYellow", "homeRed", "awayRed"].compactMap { topic.state[$0]?.intValue }
            #expect(shown.reduce(0, +) == cards[topic.id, default: 0], "seed \(seed): \(topic.id)")
        }
    }
}
