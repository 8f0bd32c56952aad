import FanfareDecisions
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

@Suite struct FeedWatchTests {
    private func event(_ kind: String, _ change: FeedEvent.Change, _ topic: String = "match/1") -> FeedEvent {
        FeedEvent(topic: TopicID(topic), topicKind: .football, at: ManualClock.start, kind: kind, change: change)
    }

    private func fact(_ kind: String, _ id: String = "f") -> FeedEvent {
        event(kind, .fact(Fact(id: id, kind: kind, at: ManualClock.start, values: ["side": "home"])))
    }

    @Test func aFactOfWhichNoRulesKnowIsSaidOnce() {
        var words = UnknownWords(rules: .builtIn)
        #expect(words.notice(of: fact("goal")) == nil)
        #expect(
            words.notice(of: fact("gaol"))
                == "no rules know facts of the kind `gaol` (did you mean `goal`?): nothing is made of them")
        #expect(words.notice(of: fact("gaol")) == nil)
        #expect(
            words.notice(of: fact("streaker")) == "no rules know facts of the kind `streaker`: nothing is made of them")
    }

    @Test func anEndThatIsMisspeltIsSaid() {
        var words = UnknownWords(rules: .builtIn)
        #expect(
            words.notice(of: event("ennd", .nothing)) == "events of the kind `ennd` say nothing (did you mean `end`?)")
        #expect(words.notice(of: event("heartbeat", .nothing)) == nil, "a feed may say that it lives")
        #expect(words.notice(of: event("ende", .patch(["a": 1]))) == nil, "it says something")
    }

    @Test func aFeedOfDifferentWordsIsNotKeptInMind() {
        var words = UnknownWords(rules: .builtIn)
        let said = (0..<10_000).count { words.notice(of: fact("kind\($0)")) != nil }
        #expect(said == 256)
    }

    @Test func aWordThatTheCoreRejectsIsNotKept() {
        var words = UnknownWords(rules: .builtIn)
        #expect(words.notice(of: fact(String(repeating: "x", count: 1 << 20))) == nil)
    }

    @Test func roomForTopicsIsSaidBeforeItIsUsedUp() {
        var room = TopicRoom(topicsMax: 100)
        let said = (0...100).filter { room.notice(of: $0) != nil }
        #expect(said == [80, 95, 100])
        #expect((60...100).count { room.notice(of: $0) != nil } == 0, "once")
        #expect((30...85).filter { room.notice(of: $0) != nil } == [80], "and again when it was free in between")
    }

    @Test func operatorsAreToldOfUnknownWordsAndUsedUpRoom() {
        var rules = Rules.builtIn
        rules.limits.topicsMax = 5
        let one = OneThread(rules: rules)
        for number in 1...6 { _ = one.ask(.event(event("start", .patch(["a": 1]), "match/\(number)"))) }
        _ = one.ask(.event(fact("gaol")))
        one.settle()
        #expect(one.reports.contains { $0.hasPrefix("80 % of the 5 topics") }, "\(one.reports)")
        #expect(one.reports.contains { $0.hasPrefix("all 5 topics are taken") }, "\(one.reports)")
        #expect(one.reports.contains { $0.contains("`gaol`") }, "\(one.reports)")
    }
}
