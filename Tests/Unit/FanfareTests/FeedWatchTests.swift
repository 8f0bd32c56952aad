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

    // MARK: Both

    @Test func anEventMayBeNoticedForItsWordAndForTheRoomThatItTakes() {
        var rules = Rules.builtIn
        rules.limits.topicsMax = 10
        var watch = FeedWatch(rules: rules)
        let both = watch.notices(of: fact("gaol"), runningTopics: 8)
        #expect(both.count == 2, "\(both)")
        #expect(both.contains { $0.contains("`gaol`") } && both.contains { $0.hasPrefix("80 % of the 10 topics") })
        let again = watch.notices(of: fact("gaol"), runningTopics: 8)
        #expect(again == [], "once")
        let full = watch.notices(of: fact("gaol"), runningTopics: 10)
        #expect(full.count == 1 && full.allSatisfy { $0.hasPrefix("all 10 topics are taken") }, "\(full)")
    }

    @Test func aFeedOfKnownWordsWithRoomToSpareIsNotNoticed() {
        var watch = FeedWatch(rules: .builtIn)
        let notices = (0..<1000).flatMap { watch.notices(of: fact("goal"), runningTopics: $0) }
        #expect(notices == [])
    }

    // MARK: Words

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

    /// The rules of topics without a kind of their own count as well.
    @Test func aWordIsKnownOnlyToRulesThatUnderstandIt() {
        let football = Rules.builtIn[.football]
        for rules in [Rules(kinds: [:], other: football), Rules(kinds: [.football: football], other: TopicRules())] {
            var words = UnknownWords(rules: rules)
            let notice = words.notice(of: fact("goal"))
            #expect(notice == nil)
        }
        var words = UnknownWords(rules: Rules(kinds: [:], other: TopicRules()))
        let notices = [words.notice(of: fact("goal")), words.notice(of: fact("gaol"))]
        #expect(
            notices == [
                "no rules know facts of the kind `goal`: nothing is made of them",
                "no rules know facts of the kind `gaol`: nothing is made of them",
            ], "a word that no rule knows is not meant")
    }

    @Test func anEventThatEndsItsTopicOrAlertsIsNotNoticedWhateverItsName() {
        var words = UnknownWords(rules: .builtIn)
        var (end, alert) = (event("ennd", .nothing), event("ennd", .nothing))
        end.lifecycle = .end
        alert.alert = AlertText(title: "Over", body: "")
        let notices = [words.notice(of: end), words.notice(of: alert)]
        #expect(notices == [nil, nil])
        let notice = words.notice(of: event("ennd", .nothing))
        #expect(notice != nil)
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
        let said = [128, 129].map { words.notice(of: fact(String(repeating: "x", count: $0))) != nil }
        #expect(said == [true, false])
    }

    // MARK: Room

    @Test func roomForTopicsIsSaidBeforeItIsUsedUp() {
        var room = TopicRoom(topicsMax: 100)
        let said = (0...100).filter { room.notice(of: $0) != nil }
        #expect(said == [80, 95, 100])
        #expect((60...100).count { room.notice(of: $0) != nil } == 0, "once")
        #expect((30...85).filter { room.notice(of: $0) != nil } == [80], "and again when it was free in between")
    }

    @Test func aShareOfASmallTableIsRoundedUp() {
        var three = TopicRoom(topicsMax: 3)
        let saidOfThree = (0...3).filter { three.notice(of: $0) != nil }
        #expect(saidOfThree == [3])
        var six = TopicRoom(topicsMax: 6)
        let saidOfSix = (0...6).filter { six.notice(of: $0) != nil }
        #expect(saidOfSix == [5, 6])
    }

    @Test func aTableOfOneTopicIsSaidToBeFullWheneverItIsFullAgain() {
        var room = TopicRoom(topicsMax: 1)
        let said = [0, 1, 1, 0, 1].map { room.notice(of: $0) != nil }
        #expect(said == [false, true, false, false, true])
    }

    @Test func aTableWithoutABoundHasRoom() {
        var room = TopicRoom(topicsMax: .max)
        let said = [0, 1_000_000, Int.max / 2, .max].map { room.notice(of: $0) != nil }
        #expect(said == [false, false, false, true])
    }
}
