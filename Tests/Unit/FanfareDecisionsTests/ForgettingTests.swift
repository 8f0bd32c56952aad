import FanfareDecisions
import FanfareModel
import Testing

/// Old topics are forgotten, so that a season costs as little as a day; a returning one is known or new by the rules.
@Suite struct ForgettingTests {
    private func order(_ number: Int) -> PatchFeed { PatchFeed(topic: TopicID("order/\(number)")) }

    private func rules(_ change: (inout Rules) -> Void) -> Rules {
        var rules = Rules.builtIn
        change(&rules)
        return rules
    }

    /// The topic is dismissed after 15 minutes, and remembered for four hours more.
    @Test func aTopicIsForgottenSomeTimeAfterItsEndWasDismissed() {
        var story = Scripted()
        story.apply(order(1).set(0, ["eta": 5]))
        story.apply(order(1).end(100))
        let gone = 100.0 + 900 + 4 * 3600
        #expect(story.core.nextDeadline == at(gone))
        story.advance(to: at(gone - 0.001))
        #expect(story.core.topicCount == 1 && story.forgotten.isEmpty)
        story.advance(to: at(gone))
        #expect(story.core.topicCount == 0 && story.forgotten == ["order/1"])
        #expect(story.records.last?.kind == "forget" && story.records.last?.now == at(gone))
        #expect(story.records.last?.reason == "its end was dismissed 14400 s ago")
        #expect(story.core.forgotten.map(\.published) == [["eta": 5]])
        #expect(story.core.nextDeadline == nil)
        story.advance(to: at(gone + 1))
        #expect(story.core.forgotten.isEmpty, "told once")
    }

    /// The thread that drops the last reference to a publication frees it, and that is to be the thread that decides.
    @Test func aPublicationThatIsNoTopicsNewestAnyMoreIsKeptForAWhile() {
        var story = Scripted()
        weak var replaced: Publication?
        weak var forgotten: Publication?
        story.apply(order(1).set(0, ["eta": 5]))
        replaced = story.publications.last
        story.apply(order(1).end(100))
        forgotten = story.publications.last
        story.advance(to: at(100 + 900 + 4 * 3600))
        #expect(story.forgotten == ["order/1"])
        story.decisions.removeAll()
        #expect(replaced?.version == 1 && forgotten?.version == 2)
    }

    @Test func theLimitCountsTopicsThatLive() {
        var story = Scripted(rules: rules { $0.limits.topicsMax = 3 })
        for number in 1...3 { story.apply(order(number).set(0, ["eta": 5])) }
        #expect(story.apply(order(4).set(20, ["eta": 5])).reason == "the engine follows 3 topics, and no more")
        story.apply(order(2).end(30))
        story.apply(order(1).end(40))
        #expect(story.core.topicCount == 3 && story.core.runningTopicCount == 1)
        #expect(story.apply(order(4).set(50, ["eta": 5])).outcome == .published)
        #expect(story.forgotten == ["order/2"], "the one that ended first")
        let record = story.records[story.records.count - 2]
        #expect(record.kind == "forget" && record.reason == "it ended, and its room is another's")
        #expect(story.apply(order(5).set(60, ["eta": 5])).outcome == .published)
        #expect(story.forgotten == ["order/2", "order/1"])
        #expect(story.apply(order(6).set(70, ["eta": 5])).outcome == .rejected, "all three run")
        #expect(story.core.topicCount == 3 && story.core.runningTopicCount == 3)
    }

    /// All orders end within the time for which ended ones are remembered, as in a feed that gives its orders one date.
    @Test func ordersThatBeginAndEndAreNotRefusedHoweverManyThereWere() {
        var story = Scripted(rules: rules { $0.limits.topicsMax = 100 })
        for number in 0..<2000 {
            #expect(story.apply(order(number).set(0, ["eta": 5])).outcome == .published)
            #expect(story.apply(order(number).end(0)).outcome == .published)
            #expect(story.core.topicCount <= 100 && story.core.runningTopicCount == 0)
            story.decisions.removeAll()
        }
        story.advance(to: at(24 * 3600))
        #expect(story.core.topicCount == 0 && story.core.nextDeadline == nil)
    }

    @Test func refusedEventTakesNoRoom() {
        var story = Scripted(rules: rules { $0.limits.topicsMax = 1 })
        story.apply(order(1).set(0, ["eta": 5]))
        story.apply(order(1).end(10))
        let large = JSONValue.string(String(repeating: "x", count: 4000))
        #expect(story.apply(order(2).set(20, ["text": large])).outcome == .rejected)
        #expect(story.forgotten.isEmpty && story.topic("order/1")?.ended == true)
        #expect(story.apply(order(1).set(30, ["eta": 4])).reason == "after end")
    }

    /// A topic that has begun again is running, and no longer over.
    @Test func topicThatHasBegunAgainIsNotForgottenEarly() {
        var story = Scripted(
            rules: rules {
                $0.limits.topicsMax = 2
                $0.kinds[.football]?.lifetime.reopens = .resumed
            })
        let match = FootballFeed()
        story.apply(match.start(0))
        story.apply(match.period(1, "1H"))
        story.apply(match.end(100))
        #expect(story.core.runningTopicCount == 0)
        story.apply(order(1).set(110, ["eta": 5]))
        story.apply(order(1).end(120))
        story.apply(match.goal(130, "g1"))
        #expect(story.topic("match/1")?.ended == false && story.core.runningTopicCount == 1)
        #expect(story.apply(order(2).set(140, ["eta": 5])).outcome == .published)
        #expect(story.forgotten == ["order/1"])
        #expect(story.apply(order(3).set(150, ["eta": 5])).outcome == .rejected)
        // The second end of the topic counts.
        story.apply(order(2).end(160))
        story.apply(match.end(170))
        #expect(story.apply(order(3).set(180, ["eta": 5])).outcome == .published)
        #expect(story.forgotten == ["order/1", "order/2"])
    }

    /// Ten thousand orders leave as many topics as a hundred, and no timers of theirs.
    @Test func tablesDoNotGrowWithWhatHasBeen() {
        var story = Scripted()
        for number in 0..<10_000 {
            let time = Double(number) * 600
            story.apply(order(number).set(time, ["eta": 5]))
            story.apply(order(number).end(time + 60))
            #expect(story.core.topicCount <= 32)
            story.decisions.removeAll()
        }
        story.advance(to: at(10_000 * 600 + 24 * 3600))
        #expect(story.core.topicCount == 0 && story.core.nextDeadline == nil)
    }

    /// Another topic reuses a freed place; the timers of the former one must not be taken for its own.
    @Test func aPlaceThatIsUsedAgainHasItsOwnTimers() {
        var story = Scripted()
        story.apply(order(1).set(0, ["eta": 5]))
        story.apply(order(1).end(0))
        let gone = 900.0 + 4 * 3600
        story.apply(order(2).set(gone + 1, ["eta": 5]))
        story.advance(to: at(24 * 3600))
        #expect(story.topic("order/2")?.ended == false, "24 hours after the first one's last event, not its own")
        story.advance(to: at(gone + 1 + 24 * 3600))
        #expect(story.topic("order/2")?.ended == true)
    }

    /// Deadlines of one moment fall in the order in which their topics were created, whatever places these have.
    @Test func timersStandInTheOrderOfBirths() {
        var story = Scripted()
        story.apply(order(1).set(0, ["eta": 5]))
        story.apply(order(2).set(0, ["eta": 5]))
        story.apply(order(1).end(0))
        let later = 20_000.0
        // The topic reuses the first one's place, which is before the second one's.
        story.apply(order(3).set(later, ["eta": 5]))
        #expect(story.forgotten == ["order/1"])
        story.apply(order(2).set(later, ["eta": 4]))
        for number in [3, 2] { story.apply(order(number).set(later + 1, ["eta": 3])) }
        story.advance(to: at(later + 10))
        let flushed = story.records.filter { $0.kind == "flush" }
        #expect(flushed.map(\.topic?.rawValue) == ["order/2", "order/3"])
        #expect(flushed.allSatisfy { $0.now == at(later + 2) })
    }

    // MARK: - Topics that never were

    @Test func aRefusedEventBeginsNoTopic() {
        var story = Scripted(rules: rules { $0.limits.topicsMax = 2 })
        for number in 0..<10 {
            let large = JSONValue.string(String(repeating: "x", count: 4000))
            #expect(story.apply(order(number).set(0, ["text": large])).outcome == .rejected)
        }
        #expect(story.core.topicCount == 0)
        #expect(story.core.nextDeadline == nil)
        #expect(story.apply(order(3).set(1, ["text": "short"])).outcome == .published)
    }

    @Test func aTopicNeverShownIsForgottenWithoutAnEnd() {
        var story = Scripted()
        story.apply(FootballFeed().pass(0))
        story.advance(to: at(7 * 24 * 3600))
        #expect(story.publications.isEmpty && story.forgotten.isEmpty, "nobody has heard of it")
        #expect(story.core.topicCount == 0)
        #expect(story.records.last?.reason == "its feed has been silent for 604800 s, and nothing is shown")
    }

    // MARK: - Topics that return

    @Test func theIDOfAForgottenTopicBelongsToANewTopic() {
        var story = Scripted()
        let match = FootballFeed()
        story.apply(match.start(0))
        story.apply(match.goal(10, "g1"))
        story.apply(match.event(15, "pause", .operation(.pause)))
        story.apply(match.end(20))
        let nextWeek = 7.0 * 24 * 3600
        let start = story.apply(match.start(nextWeek))
        #expect(start.outcome == .published && start.version == 1)
        #expect(story.state("match/1", "homeScore") == 0)
        #expect(story.apply(match.goal(nextWeek + 10, "g1")).alert == .granted)
        #expect(story.forgotten == ["match/1"])
    }

    @Test func anEndedTopicUsuallyDoesNotBeginAgain() {
        var story = Scripted()
        story.apply(order(1).set(0, ["eta": 5]))
        story.apply(order(1).end(10))
        #expect(story.apply(order(1).start(20)).reason == "after end")
        #expect(story.apply(order(1).set(30, ["eta": 4])).reason == "after end")
    }

    /// An abandoned match goes on another day, with its score.
    @Test func whereTheRulesSaySoAFeedGoesOnFromWhereItEnded() {
        var story = Scripted(
            rules: rules {
                $0.kinds[.football]?.lifetime.reopens = .resumed
                $0.kinds[.football]?.lifetime.forgetAfter = .seconds(14 * 24 * 3600)
            })
        let match = FootballFeed()
        story.apply(match.start(0))
        story.apply(match.period(1, "1H"))
        story.apply(match.goal(1000, "g1"))
        story.apply(match.end(2000))
        #expect(story.apply(match.pass(2001)).reason == "after end", "nothing to see")
        let nextWeek = 7.0 * 24 * 3600
        let period = story.apply(match.period(nextWeek, "2H"))
        #expect(period.outcome == .published && period.version == 5 && period.reason.hasPrefix("begun again"))
        #expect(story.publications.last?.event == .update)
        #expect(story.state("match/1", "homeScore") == 1)
        #expect(story.apply(match.goal(nextWeek + 60, "g2")).alert == .granted)
        #expect(story.apply(match.end(nextWeek + 3600)).outcome == .published)
        #expect(story.publications.last?.dismissal == .after(.seconds(900)), "of the second day alone")
    }

    @Test func whereTheRulesSaySoAStartBeginsATopicAfresh() {
        var story = Scripted()
        let table = PatchFeed(topic: TopicID("table/7"), kind: .queue)
        story.apply(table.set(0, ["position": 2, "name": "Ann"], seq: 9, id: "a"))
        story.apply(table.set(60, ["position": 0], seq: 10))
        #expect(story.topic("table/7")?.ended == true)
        #expect(story.apply(table.set(70, ["position": 5], seq: 11)).reason == "after end", "no start")
        let start = story.apply(table.event(80, "start", lifecycle: .start, .patch(["position": 4])))
        #expect(start.outcome == .published && start.version == 3)
        #expect(story.topic("table/7")?.published?["position"] == 4)
        #expect(story.topic("table/7")?.published?["name"] == nil)
        #expect(story.state("table/7", "name") == nil)
        #expect(story.apply(table.set(90, ["position": 3], seq: 1, id: "a")).outcome == .published)
    }

    private let table = PatchFeed(topic: TopicID("table/7"), kind: .queue)

    private func start(_ seconds: Double, _ patch: JSONObject, seq: UInt64? = nil) -> FeedEvent {
        var start = table.event(seconds, "start", lifecycle: .start, .patch(patch))
        start.seq = seq
        return start
    }

    @Test func aStartThatIsRefusedChangesNothingOfATopicThatHasEnded() {
        var story = Scripted()
        story.apply(table.set(0, ["position": 2, "name": "Ann"], seq: 9, id: "a"))
        story.apply(table.set(60, ["position": 0], seq: 10))
        let gone = story.core.nextDeadline
        let tooLarge = JSONValue.string(String(repeating: "x", count: 4000))
        #expect(story.apply(start(80, ["position": 4, "name": tooLarge])).outcome == .rejected)
        #expect(story.topic("table/7")?.state["name"] == "Ann" && story.topic("table/7")?.ended == true)
        #expect(story.core.nextDeadline == gone)
        #expect(story.apply(table.set(61, ["position": 1], seq: 11), now: at(90)).reason == "after end")
        #expect(story.apply(table.set(0, ["position": 2], seq: 9, id: "a"), now: at(91)).outcome == .duplicate)
        #expect(story.publications.map(\.event) == [.update, .end])
        #expect(story.apply(start(100, ["position": 4])).outcome == .published, "mended, it begins")
        #expect(story.topic("table/7")?.published?["name"] == nil)
    }

    /// The feed delivers at least once, and gives its events no ids.
    @Test(arguments: [1, nil] as [UInt64?]) func theStartOfATenureThatIsOverBeginsNoOtherTenure(seq: UInt64?) {
        var story = Scripted()
        let first = start(0, ["position": 2], seq: seq)
        story.apply(first)
        story.apply(table.set(60, ["position": 0], seq: seq.map { $0 + 1 }))
        #expect(story.topic("table/7")?.ended == true)
        let again = story.apply(first, now: at(300))
        #expect(again.outcome == .late && !again.reason.isEmpty)
        #expect(story.apply(table.event(0, "start", lifecycle: .start), now: at(301)).outcome == .late)
        #expect(story.publications.map(\.event) == [.update, .end])
        // The clock is a little behind, and the number is a new one.
        #expect(story.apply(start(58, ["position": 3], seq: seq.map { $0 + 2 }), now: at(310)).outcome == .published)
    }

    private func end(_ seconds: Double, _ patch: JSONObject = [:], id: String? = nil, seq: UInt64? = nil) -> FeedEvent {
        var end = table.end(seconds, patch, seq: seq)
        end.id = id
        return end
    }

    /// The feed delivers at least once, or late.
    @Test(arguments: ["e9", nil] as [String?]) func eventsOfTheEarlierTenureChangeNothingOfTheNext(id: String?) {
        var story = Scripted()
        story.apply(table.set(0, ["position": 2]))
        let last = end(60, id: id)
        story.apply(last)
        story.apply(start(80, ["position": 12]))
        #expect(story.apply(last, now: at(81)).outcome == .late)
        #expect(story.apply(end(70, ["position": 0]), now: at(82)).outcome == .late)
        #expect(story.apply(table.set(61, ["name": "Ann"], seq: 3), now: at(83)).outcome == .late)
        #expect(story.publications.map(\.event) == [.update, .end, .update])
        #expect(story.state("table/7", "position") == 12 && story.state("table/7", "name") == nil)
        // The clock is a little behind, so the end belongs to this tenure.
        #expect(story.apply(end(76), now: at(200)).outcome == .published)
    }

    @Test func aNumberThatHasNotBeenIsOfThisTenureWhateverItsTime() {
        var story = Scripted()
        story.apply(table.set(0, ["position": 2], seq: 1))
        story.apply(end(60, seq: 2))
        story.apply(start(80, ["position": 12], seq: 3))
        story.apply(table.set(20, ["position": 11], seq: 4), now: at(90))
        #expect(story.topic("table/7")?.state["position"] == 11)
    }

    @Test func afterAResetTimesOfTheTenureCountFromThere() {
        var story = Scripted()
        story.apply(table.set(0, ["position": 2]))
        story.apply(end(60))
        story.apply(start(80, ["position": 12]))
        story.apply(table.event(90, "reset", .operation(.reset)))
        #expect(story.apply(table.set(20, ["position": 11]), now: at(100)).outcome == .published)
    }

    /// The end comes after a restart, or an id of yesterday is used again.
    @Test func anEndOfLongAgoEndsNothingThatWasNeverShown() {
        for (delay, isTold) in [(0.0, true), (120, true), (120.001, false), (300, false)] {
            var story = Scripted()
            let first = story.apply(end(0, ["name": "Ann"]), now: at(delay))
            #expect((first.outcome == .published) == isTold, "after \(delay) s")
            if !isTold {
                #expect(first.reason.hasPrefix("ended before it was shown"))
                #expect(story.apply(end(1), now: at(delay + 1)).outcome == .late, "another one")
                #expect(story.apply(start(delay + 2, ["position": 4])).outcome == .published)
                #expect(story.topic("table/7")?.published?["position"] == 4)
                #expect(story.topic("table/7")?.published?["name"] == nil)
                #expect(story.apply(end(1), now: at(delay + 10)).outcome == .late, "that tenure goes on")
            }
        }
    }

    /// A restart falls on the final whistle, or a provider's clock is behind: the end is the first event received, and cards must end.
    @Test func aFirstEndEndsWhatHasItsIDForItselfHoweverLateItComes() {
        var story = Scripted()
        #expect(story.apply(order(1).end(0), now: at(300)).outcome == .published)
        #expect(story.publications.map(\.event) == [.end])
    }

    @Test func unpublishedFirstEndTakesNoRoom() {
        var story = Scripted(rules: rules { $0.limits.topicsMax = 1 })
        #expect(story.apply(end(0), now: at(300)).outcome == .late)
        #expect(story.core.topicCount == 0)
        #expect(story.apply(order(1).set(300, ["eta": 5])).outcome == .published)
    }

    @Test func anOperatorsResetLetsAnEndedTopicBeginAgain() {
        var story = Scripted()
        story.apply(order(1).set(0, ["eta": 5]))
        story.apply(order(1).end(10))
        let reset = story.apply(order(1).event(20, "reset", .operation(.reset)))
        #expect(reset.reason.hasSuffix("and it may begin again"))
        #expect(story.apply(order(1).end(25)).reason == "after end")
        #expect(story.apply(order(1).set(30, ["eta": 4])).outcome == .published)
        #expect(story.apply(order(1).end(40)).outcome == .published)
        #expect(story.apply(order(1).set(50, ["eta": 3])).reason == "after end", "once")
    }
}
