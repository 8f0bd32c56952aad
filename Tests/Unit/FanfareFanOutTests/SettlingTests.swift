import FanfareModel
import Testing

@testable import FanfareFanOut

/// A shard answers questions whether all activities have the content published before.
@Suite struct SettlingTests {
    /// A shard, its clock, and a network that answers on command.
    private final class Stage {
        let shard = Shard()
        var moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)
        private var serial: UInt64 = 0
        private(set) var flying: [Completion] = []

        func follow(_ activity: UInt64, _ audience: AudienceKey = .topic(TopicID("match"))) {
            shard.apply(.follow(ActivityID(activity), audience, token: [UInt8(activity)]), at: moment)
        }

        /// Publishes a new version of the topic.
        func publish(_ topic: String = "match") {
            serial += 1
            shard.apply(
                .publish(
                    Publication(
                        serial: serial, topicID: TopicID(topic), topicKind: .generic, version: UInt32(serial),
                        event: .update, state: EncodedState(["version": .int(Int64(serial))]), priority: .conserving,
                        alert: nil,
                        short: ShortForms(compactLeading: "\(serial)", compactTrailing: "", minimal: ""),
                        staleAfter: nil, dismissAfter: nil)), at: moment)
        }

        func ask(_ question: UInt64) { shard.apply(.reportQuiet(question), at: moment) }

        func pull() {
            var batch = DeliveryBatch()
            shard.pull(limit: 100, at: moment, into: &batch)
            flying += batch.deliveries.map {
                Completion(slot: $0.slot, generation: $0.generation, outcome: .accepted)
            }
        }

        /// Answers the pushes that left first.
        func answer(_ count: Int, _ outcome: DeliveryOutcome = .accepted) {
            let answered = flying.prefix(count).map {
                Completion(slot: $0.slot, generation: $0.generation, outcome: outcome)
            }
            flying.removeFirst(count)
            shard.complete(answered, at: moment)
        }

        func pass(_ seconds: Int64) {
            moment.wallMilliseconds += 1000 * seconds
            moment.monotonic += .seconds(seconds)
        }

        /// Questions answered since the last read; each answer covers all questions before it.
        var settled: [UInt64] { answers.map(\.question) }

        var answers: [Settling.Answer] {
            shard.takeFeedback().compactMap {
                if case .quiet(let question, let isComplete) = $0 {
                    Settling.Answer(question: question, isComplete: isComplete)
                } else {
                    nil
                }
            }
        }
    }

    @Test func aShardAtRestAnswersAtOnce() {
        let stage = Stage()
        stage.ask(1)
        #expect(stage.settled == [1])
    }

    @Test func aQuestionWaitsForVersionsBeforeItAndForNoneAfterIt() {
        let stage = Stage()
        for activity in UInt64(1)...2 { stage.follow(activity) }
        stage.publish()
        stage.pull()
        stage.ask(1)
        stage.publish()
        stage.pass(1)
        stage.answer(1)
        #expect(stage.settled == [], "the second one has nothing yet")
        stage.pull()
        stage.answer(1)
        #expect(stage.settled == [1], "both have the version before it, and are owed the next one")
        #expect(!stage.shard.isQuiet)
    }

    @Test func aNewerVersionIsAsGoodAsTheOneThatWasAwaited() {
        let stage = Stage()
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
        let stage = Stage()
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
        let stage = Stage()
        for activity in UInt64(1)...2 { stage.follow(activity) }
        stage.shard.apply(.unfollow(ActivityID(1)), at: stage.moment)
        stage.ask(1)
        stage.pull()
        stage.shard.apply(.unfollow(ActivityID(2)), at: stage.moment)
        stage.pull()
        #expect(stage.settled == [])
        stage.answer(1)
        #expect(stage.settled == [1])
        #expect(!stage.shard.isQuiet)
    }

    @Test func aQuestionWaitsForAPushThatMustBeSentAgain() {
        let stage = Stage()
        for activity in UInt64(1)...2 { stage.follow(activity) }
        stage.publish()
        stage.pull()
        stage.ask(1)
        stage.answer(2, .unknown)
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
        let stage = Stage()
        stage.publish()
        stage.follow(1)
        if leaves {
            stage.pull()
            stage.answer(1)
            stage.shard.apply(.unfollow(ActivityID(1)), at: stage.moment)
        }
        stage.pull()
        stage.answer(1, .throttled)
        stage.ask(1)
        #expect(stage.settled == [])
        stage.shard.apply(.replaceToken(ActivityID(1), token: [99]), at: stage.moment)
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
        let stage = Stage()
        stage.follow(1)
        stage.publish()
        stage.pull()
        stage.shard.apply(
            .start(
                StartRequest(
                    activity: "card", token: [9], attributesType: "A", alert: AlertText(title: "It begins", body: "")),
                .topic(TopicID("match"))), at: stage.moment)
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
        let stage = Stage()
        let lineup = AudienceKey.lineup([TopicID("match"), TopicID("other")])
        stage.publish("match")
        stage.publish("other")
        stage.follow(1, lineup)
        stage.pull()
        stage.answer(stage.flying.count)
        // The first change leaves, the second waits.
        stage.publish("match")
        stage.pull()
        stage.publish("other")
        stage.pull()
        stage.ask(1)
        stage.answer(stage.flying.count)
        #expect(stage.settled == [])
        #expect(stage.shard.membership.lineups.newsCount == 1)
        // From here on a push is pending at any time.
        stage.publish("quiz")
        stage.follow(2, .topic(TopicID("quiz")))
        stage.pass(60)
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
        let stage = Stage()
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
        let stage = Stage()
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
        let stage = Stage()
        for activity in UInt64(1)...2 { stage.follow(activity) }
        stage.publish()
        stage.pull()
        if !isLate { stage.ask(1) }
        stage.answer(1, .refused)
        stage.follow(3)
        stage.pull()
        if isLate { stage.ask(1) }
        stage.answer(stage.flying.count)
        #expect(stage.answers.map(\.isComplete) == [false])
        stage.publish()
        stage.pass(1)
        stage.pull()
        stage.answer(stage.flying.count)
        stage.ask(2)
        #expect(stage.answers.map(\.isComplete) == [true], "all have something newer")
    }

    /// A question behind another one begins its round when that is answered: it may wait for a little more than it asked, but not for ever.
    @Test func aQuestionBehindAnotherOneIsAnsweredTooAlthoughTheShardIsNeverAtRest() {
        let stage = Stage()
        for activity in UInt64(1)...3 { stage.follow(activity) }
        stage.publish()
        stage.pull()
        stage.ask(1)
        stage.ask(2)
        for _ in 0..<2 {
            stage.publish()
            stage.pass(1)
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
        let stage = Stage()
        #expect(!stage.shard.mayHavePushes(at: stage.moment))
        for activity in UInt64(1)...3 { stage.follow(activity) }
        #expect(!stage.shard.mayHavePushes(at: stage.moment))
        stage.publish()
        #expect(stage.shard.mayHavePushes(at: stage.moment))
        stage.pull()
        stage.answer(3, .serviceError)
        stage.ask(7)
        #expect(!stage.shard.mayHavePushes(at: stage.moment), "all wait for their retries")
        stage.pass(3600)
        #expect(stage.shard.mayHavePushes(at: stage.moment), "a timer that is due makes pushes due")
        stage.pull()
        stage.answer(3)
        #expect(!stage.shard.mayHavePushes(at: stage.moment))
        #expect(stage.settled == [7])
    }
}
