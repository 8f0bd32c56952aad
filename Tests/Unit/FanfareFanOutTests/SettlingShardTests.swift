import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// A shard answers questions whether all activities have the content published before.
@Suite struct SettlingShardTests {
    private static func stage() -> EmbeddedShard {
        EmbeddedShard(at: Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1))
    }

    @Test func aShardAtRestAnswersAtOnce() {
        let stage = Self.stage()
        stage.ask(1)
        #expect(stage.settled == [1])
    }

    @Test func aQuestionWaitsForVersionsBeforeItAndForNoneAfterIt() {
        let stage = Self.stage()
        for activity in UInt64(1)...2 { stage.follow(activity) }
        stage.publish()
        stage.pull()
        stage.ask(1)
        stage.publish()
        stage.pass(seconds: 1)
        stage.answer(1)
        #expect(stage.settled == [], "the second one has nothing yet")
        stage.pull()
        stage.answer(1)
        #expect(stage.settled == [1], "both have the version before it, and are owed the next one")
        #expect(!stage.shard.isQuiet)
    }

    @Test func aNewerVersionIsAsGoodAsTheOneThatWasAwaited() {
        let stage = Self.stage()
        stage.follow(1)
        stage.publish()
        stage.ask(1)
        stage.publish()
        stage.pull()
        #expect(stage.flying.count == 1)
        stage.publish()
        stage.answer(1)
        #expect(stage.settled == [1])
    }

    @Test func aQuestionWaitsForJoinersBeforeItAndForNoneAfterIt() {
        let stage = Self.stage()
        stage.follow(1)
        stage.publish()
        stage.pull()
        stage.answer(1)
        stage.follow(2)
        stage.ask(1)
        stage.pull()
        stage.follow(3)
        stage.pull()
        #expect(stage.settled == [])
        stage.answer(1)
        #expect(stage.settled == [1])
        #expect(!stage.shard.isQuiet)
    }

    @Test func questionWaitsForEarlierDepartures() {
        let stage = Self.stage()
        for activity in UInt64(1)...2 { stage.follow(activity) }
        stage.apply(.unfollow(ActivityID(1)))
        stage.ask(1)
        stage.pull()
        stage.apply(.unfollow(ActivityID(2)))
        stage.pull()
        #expect(stage.settled == [])
        stage.answer(1)
        #expect(stage.settled == [1])
        #expect(!stage.shard.isQuiet)
    }

    @Test func aQuestionWaitsForAPushThatMustBeSentAgain() {
        let stage = Self.stage()
        for activity in UInt64(1)...2 { stage.follow(activity) }
        stage.publish()
        stage.pull()
        stage.ask(1)
        stage.answer(2, .uncertain)
        #expect(stage.settled == [])
        stage.follow(3)
        stage.pull()
        #expect(stage.flying.count == 3)
        #expect(stage.settled == [])
        stage.answer(3)
        #expect(stage.settled == [1])
    }

    /// A new token ends an activity's wait, but its push is still pending.
    @Test(arguments: [false, true]) func aNewTokenIsNoAnswer(leaves: Bool) {
        let stage = Self.stage()
        stage.publish()
        stage.follow(1)
        if leaves {
            stage.pull()
            stage.answer(1)
            stage.apply(.unfollow(ActivityID(1)))
        }
        stage.pull()
        stage.answer(1, .throttled)
        stage.ask(1)
        #expect(stage.settled == [])
        stage.apply(.replaceToken(ActivityID(1), token: [99]))
        // A push to another activity makes the shard look.
        stage.follow(2)
        stage.pull()
        #expect(stage.flying.count == 2)
        stage.shard.complete([], at: stage.moment)
        #expect(stage.settled == [])
        stage.answer(2)
        #expect(stage.settled == [1])
    }

    @Test func aQuestionWaitsForAStartUntilItIsTakenAndNotForItsToken() {
        let stage = Self.stage()
        stage.follow(1)
        stage.publish()
        stage.pull()
        stage.apply(
            .start(
                StartRequest(
                    activity: "card", token: [9], attributesType: "A", alert: AlertText(title: "It begins", body: "")),
                .topic(TopicID("match"))))
        stage.answer(1)
        stage.ask(1)
        #expect(stage.settled == [])
        stage.pull()
        stage.follow(2)
        stage.answer(1)
        #expect(stage.settled == [1])
    }

    /// Changes of a lineup wait for its minimum interval of two seconds; until then they are in no version.
    @Test func aQuestionWaitsForWhatALineupHoldsBack() {
        let stage = Self.stage()
        let lineup = AudienceKey.lineup([TopicID("match"), TopicID("other")])
        stage.publish("match")
        stage.publish("other")
        stage.follow(1, lineup)
        stage.pull()
        stage.answerAll()
        // The first change leaves, the second waits.
        stage.publish("match")
        stage.pull()
        stage.publish("other")
        stage.pull()
        stage.ask(1)
        stage.answerAll()
        #expect(stage.settled == [])
        #expect(stage.shard.membership.lineups.newsCount == 1)
        // From here on a push is pending at any time.
        stage.publish("quiz")
        stage.follow(2, .topic(TopicID("quiz")))
        stage.pass(seconds: 60)
        stage.pull()
        #expect(stage.settled == [])
        let late = stage.flying.count
        stage.follow(3, .topic(TopicID("quiz")))
        stage.pull()
        stage.answer(late)
        #expect(stage.settled == [1])
        #expect(!stage.shard.isQuiet)
    }

    @Test func questionsAskedMeanwhileAreAnsweredTogether() {
        let stage = Self.stage()
        for activity in UInt64(1)...3 { stage.follow(activity) }
        stage.publish()
        stage.ask(1)
        stage.ask(2)
        stage.pull()
        stage.ask(3)
        stage.answer(1)
        #expect(stage.settled == [])
        stage.answer(2)
        #expect(stage.settled == [3])
    }

    /// One phone is never served, while questions are asked every second.
    @Test func questionsThatAreAskedInVainAreAnsweredOnce() {
        let stage = Self.stage()
        stage.follow(1)
        stage.publish()
        stage.pull()
        for question in UInt64(1)...100_000 { stage.ask(question) }
        #expect(stage.settled == [])
        stage.answer(1)
        #expect(stage.settled == [100_000])
    }

    /// A state that was refused for good is not awaited: the answer comes, and says that it was refused.
    @Test(arguments: [false, true]) func aQuestionDoesNotWaitForWhatWasRefusedAndTheAnswerSaysThatItWas(isLate: Bool) {
        let stage = Self.stage()
        for activity in UInt64(1)...2 { stage.follow(activity) }
        stage.publish()
        stage.pull()
        if !isLate { stage.ask(1) }
        stage.answer(1, .refused)
        stage.follow(3)
        stage.pull()
        if isLate { stage.ask(1) }
        stage.answerAll()
        #expect(stage.answers.map(\.isComplete) == [false])
        stage.publish()
        stage.pass(seconds: 1)
        stage.pull()
        stage.answerAll()
        stage.ask(2)
        #expect(stage.answers.map(\.isComplete) == [true], "all have something newer")
    }

    /// A question behind another one begins its survey when that is answered: it may wait for a little more than it asked, but not for ever.
    @Test func aQuestionBehindAnEarlierOneIsAnsweredAlthoughTheShardIsNeverAtRest() {
        let stage = Self.stage()
        for activity in UInt64(1)...3 { stage.follow(activity) }
        stage.publish()
        stage.pull()
        stage.ask(1)
        stage.ask(2)
        for _ in 0..<2 {
            stage.publish()
            stage.pass(seconds: 1)
            let before = stage.flying.count
            stage.answer(before)
            stage.pull()
            #expect(!stage.shard.isQuiet)
        }
        #expect(stage.settled.last == 2)
    }

    /// A transport asks before it chooses a connection, so a shard says "nothing" only if a pull would bring nothing, and answers questions
    /// all the same.
    @Test func aShardWithNothingDueSaysSoBeforeThePull() {
        let stage = Self.stage()
        #expect(!stage.shard.mayHavePushes(at: stage.moment))
        for activity in UInt64(1)...3 { stage.follow(activity) }
        #expect(!stage.shard.mayHavePushes(at: stage.moment))
        stage.publish()
        #expect(stage.shard.mayHavePushes(at: stage.moment))
        stage.pull()
        stage.answer(3, .serviceError)
        stage.ask(7)
        #expect(!stage.shard.mayHavePushes(at: stage.moment), "all wait for their retries")
        stage.pass(seconds: 3600)
        #expect(stage.shard.mayHavePushes(at: stage.moment), "a timer that is due makes pushes due")
        stage.pull()
        stage.answer(3)
        #expect(!stage.shard.mayHavePushes(at: stage.moment))
        #expect(stage.settled == [7])
    }
}

extension EmbeddedShard {
    fileprivate func follow(_ activity: UInt64, _ audience: AudienceKey = .topic(TopicID("match"))) {
        apply(.follow(ActivityID(activity), audience, token: [UInt8(activity)]))
    }

    /// Publishes a new version of the topic.
    fileprivate func publish(_ topic: String = "match") {
        let serial = nextSerial()
        publish(
            Publication.test(
                serial, of: TopicID(topic), kind: .generic, priority: .conserving,
                short: ShortForms(compactLeading: "\(serial)", compactTrailing: "", minimal: "")))
    }

    fileprivate func ask(_ question: UInt64) { apply(.reportQuiet(question)) }

    /// Answers the pushes that left first.
    fileprivate func answer(_ count: Int, _ outcome: DeliveryOutcome = .accepted) {
        answer(Array(flying.prefix(count)), outcome)
    }

    /// Questions answered since the last read; each answer covers all questions before it.
    fileprivate var settled: [UInt64] { answers.map(\.question) }

    fileprivate var answers: [Settling.Answer] {
        feedback().compactMap {
            if case .quiet(let question, let isComplete) = $0 {
                Settling.Answer(question: question, isComplete: isComplete)
            } else {
                nil
            }
        }
    }
}
