import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct SettlingTests {
    /// An audience of one member, as a survey sees it.
    private struct OneMember {
        var tenant: UInt64 = 1
        /// The newest version, and the one that the member has.
        var target: UInt32 = 0
        var delivered: UInt32 = 0
        /// Is `true` if the newest version was refused for good.
        var isRefused = false
        var hasDeferredChanges = false

        var isOwed: Bool { delivered < target && !isRefused }

        var lack: AudienceLack? {
            guard isOwed || isRefused || hasDeferredChanges else { return nil }
            return AudienceLack(
                tenant: tenant, target: target, oldest: delivered, owed: isOwed ? 1 : 0, refused: isRefused ? 1 : 0,
                hasDeferredChanges: hasDeferredChanges)
        }

        mutating func publish() {
            target += 1
            isRefused = false
        }

        /// Sends the newest version, which the member gets.
        mutating func deliver() { delivered = target }
    }

    /// Audiences of one member each, tenants of activities, what is due to these for themselves, and the news of one topic.
    private struct AskedShard: SurveyedShard {
        var audiences: [OneMember]
        var tenants: [UInt32]
        var due: [ActivitySlot: DuePush] = [:]
        /// Numbers of the news that some lineup has not looked at, the oldest first.
        var news: [NewsNumber] = []
        var newest = NewsNumber()

        var audienceCount: Int { audiences.count }
        var activityCount: Int { tenants.count }

        func lack(of audience: AudienceIndex) -> AudienceLack? { audiences[audience.place].lack }

        func tenant(of slot: ActivitySlot) -> UInt32 { tenants[Int(slot.rawValue)] }

        func duePush(of slot: ActivitySlot) -> DuePush { due[slot, default: .none] }

        func unvisitedNews() -> UnvisitedNews { UnvisitedNews(topics: news.isEmpty ? [] : [3], newest: newest) }

        func hasUnvisitedNews(of topic: TopicIndex, through last: NewsNumber) -> Bool {
            topic == 3 && news.first.map { $0 <= last } ?? false
        }

        mutating func addNews() {
            newest.advance()
            news.append(newest)
        }
    }

    private struct Stage {
        var settling = Settling()
        var shard: AskedShard

        init(audiences: Int = 0, activities: Int = 0) {
            shard = AskedShard(
                audiences: Array(repeating: OneMember(), count: audiences),
                tenants: Array(repeating: 1, count: activities))
        }

        mutating func answer() -> Settling.Answer? { settling.takeSettled(shard) }
    }

    @Test func nothingIsAnsweredWithoutAQuestion() {
        var stage = Stage(audiences: 1)
        let answers = [stage.answer()?.question, stage.settling.takeAll(isComplete: true)?.question]
        #expect(stage.settling.isIdle && answers == [nil, nil])
    }

    @Test func whereNothingIsLackedTheAnswerComesAtOnceAndOnce() {
        var stage = Stage(audiences: 2, activities: 2)
        stage.settling.ask(7)
        #expect(!stage.settling.isIdle)
        let answers = [stage.answer(), stage.answer()]
        #expect(answers.map { $0?.question } == [7, nil] && answers[0]?.isComplete == true)
        #expect(stage.settling.isIdle)
    }

    @Test func aQuestionWaitsForTheVersionBeforeItAndForNoneAfterIt() {
        var stage = Stage(audiences: 1)
        stage.shard.audiences[0].publish()
        stage.settling.ask(1)
        let early = stage.answer()
        stage.shard.audiences[0].publish()
        let late = stage.answer()
        #expect(early == nil && late == nil)
        stage.shard.audiences[0].delivered = 1
        let answer = stage.answer()
        #expect(stage.shard.audiences[0].isOwed && answer?.question == 1 && answer?.isComplete == true)
    }

    @Test func aNewerVersionIsAsGoodAsTheOneThatWasAwaited() {
        var stage = Stage(audiences: 1)
        stage.shard.audiences[0].publish()
        stage.settling.ask(1)
        let early = stage.answer()
        stage.shard.audiences[0].publish()
        stage.shard.audiences[0].deliver()
        let answer = stage.answer()
        #expect(early == nil && answer?.question == 1)
    }

    @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0]]) func eachAudienceThatLackedAVersionIsAwaited(order: [Int]) {
        var stage = Stage(audiences: 3)
        for place in order { stage.shard.audiences[place].publish() }
        stage.settling.ask(1)
        var answers = [stage.answer()?.question]
        for place in order {
            stage.shard.audiences[place].deliver()
            answers.append(stage.answer()?.question)
        }
        #expect(answers == [nil, nil, nil, 1])
    }

    @Test func questionsDuringASurveyAreAnsweredByTheNextOneWithItsNewest() {
        var stage = Stage(audiences: 2)
        stage.shard.audiences[0].publish()
        stage.settling.ask(1)
        let early = stage.answer()
        stage.settling.ask(2)
        stage.shard.audiences[1].publish()
        stage.settling.ask(3)
        stage.shard.audiences[0].deliver()
        let first = [stage.answer()?.question, stage.answer()?.question]
        stage.shard.audiences[1].deliver()
        let second = stage.answer()
        #expect(early == nil && first == [1, nil] && second?.question == 3 && stage.settling.isIdle)
    }

    @Test func oneAnswerStandsForTwoSurveysThatEndTogether() {
        var stage = Stage(audiences: 1)
        stage.shard.audiences[0].publish()
        stage.settling.ask(1)
        let early = stage.answer()
        stage.settling.ask(2)
        stage.shard.audiences[0].deliver()
        let answer = stage.answer()
        #expect(early == nil && answer?.question == 2 && stage.settling.isIdle)
    }

    @Test func aVersionThatWasRefusedForGoodIsNotAwaitedAndTheAnswerSaysSo() {
        var stage = Stage(audiences: 1)
        stage.shard.audiences[0].publish()
        stage.shard.audiences[0].isRefused = true
        stage.settling.ask(1)
        let refused = stage.answer()
        stage.shard.audiences[0].publish()
        stage.shard.audiences[0].deliver()
        stage.settling.ask(2)
        let newer = stage.answer()
        #expect(refused?.question == 1 && refused?.isComplete == false)
        #expect(newer?.question == 2 && newer?.isComplete == true, "the member has something newer")
    }

    @Test func changesThatALineupHoldsBackAreAwaitedUntilTheirVersionIsThere() {
        var stage = Stage(audiences: 1)
        stage.shard.audiences[0].hasDeferredChanges = true
        stage.settling.ask(1)
        let held = stage.answer()
        stage.shard.audiences[0].hasDeferredChanges = false
        stage.shard.audiences[0].publish()
        let published = stage.answer()
        stage.shard.audiences[0].deliver()
        let delivered = stage.answer()
        #expect(held == nil && published == nil && delivered?.question == 1 && delivered?.isComplete == true)
    }

    @Test func changesThatALineupHoldsBackAfterTheQuestionAreNotAwaited() {
        var stage = Stage(audiences: 1)
        stage.shard.audiences[0].publish()
        stage.settling.ask(1)
        let early = stage.answer()
        stage.shard.audiences[0].hasDeferredChanges = true
        stage.shard.audiences[0].deliver()
        let answer = stage.answer()
        #expect(early == nil && answer?.question == 1)
    }

    /// The audience has rested, and another one has its index.
    @Test func anAudienceThatIsNoLongerThereIsNotAwaitedNorIsItsSuccessor() {
        var stage = Stage(audiences: 1)
        stage.shard.audiences[0].publish()
        stage.settling.ask(1)
        let early = stage.answer()
        stage.shard.audiences[0] = OneMember(tenant: 2, target: 1, isRefused: true)
        let answer = stage.answer()
        #expect(early == nil && answer?.question == 1 && answer?.isComplete == true)
    }

    @Test func anActivitysOwnPushIsAwaitedAndItsRefusalIsSaid() {
        for (outcome, isComplete) in [(.none, true), (.refused, false)] as [(DuePush, Bool)] {
            var stage = Stage(activities: 3)
            stage.shard.due[ActivitySlot(1)] = .pending
            stage.settling.ask(1)
            let early = stage.answer()
            stage.shard.due[ActivitySlot(1)] = outcome
            let answer = stage.answer()
            #expect(early == nil && answer?.question == 1 && answer?.isComplete == isComplete)
        }
    }

    @Test func thePushOfASlotsNextTenantIsNotAwaited() {
        var stage = Stage(activities: 1)
        stage.shard.due[ActivitySlot(0)] = .pending
        stage.settling.ask(1)
        let early = stage.answer()
        stage.shard.tenants[0] += 1
        let answer = stage.answer()
        #expect(early == nil && answer?.question == 1 && answer?.isComplete == true)
    }

    @Test func audiencesAndActivitiesThatComeDuringASurveyAreNotAwaited() {
        var stage = Stage(audiences: 1, activities: 1)
        stage.shard.audiences[0].publish()
        stage.settling.ask(1)
        let early = stage.answer()
        stage.shard.audiences.append(OneMember())
        stage.shard.audiences[1].publish()
        stage.shard.tenants.append(1)
        stage.shard.due[ActivitySlot(1)] = .pending
        stage.shard.audiences[0].deliver()
        let answer = stage.answer()
        #expect(early == nil && answer?.question == 1)
    }

    @Test func newsThatALineupHasNotLookedAtAreAwaitedAndLaterOnesAreNot() {
        var stage = Stage()
        stage.shard.addNews()
        stage.settling.ask(1)
        let early = stage.answer()
        stage.shard.addNews()
        let later = stage.answer()
        stage.shard.news.removeFirst()
        let answer = stage.answer()
        #expect(early == nil && later == nil && stage.shard.news.count == 1 && answer?.question == 1)
    }

    @Test func whereNothingIsPendingTheNewestQuestionIsAnsweredAndTheSurveyEnds() {
        var stage = Stage(audiences: 1)
        stage.shard.audiences[0].publish()
        stage.settling.ask(1)
        let early = stage.answer()
        let ofSurvey = stage.settling.takeAll(isComplete: true)
        #expect(early == nil && ofSurvey?.question == 1 && ofSurvey?.isComplete == true && stage.settling.isIdle)
        stage.settling.ask(2)
        let again = stage.answer()
        stage.settling.ask(3)
        let newest = stage.settling.takeAll(isComplete: false)
        #expect(again == nil && newest?.question == 3 && newest?.isComplete == false && stage.settling.isIdle)
    }

    /// No call costs a look at all of a million audiences or activities.
    @Test func sixtyFiveThousandAudiencesAndActivitiesAreLookedAtInOneCall() {
        let most = 65_536
        for (audiences, activities, calls) in [(most, most, 1), (most + 1, 1, 2), (1, 2 * most + 1, 3)] {
            var stage = Stage(audiences: audiences, activities: activities)
            stage.settling.ask(1)
            let answers = (0..<calls).map { _ in stage.answer()?.question }
            let expected: [UInt64?] = Array(repeating: nil, count: calls - 1) + [1]
            #expect(answers == expected)
        }
    }

    /// Versions are published and accepted, and questions asked, in any order.
    @Test(arguments: 0..<20 as Range<UInt64>) func anAnswerMeansThatEachMemberHasWhatWasPublishedBeforeTheQuestion(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var stage = Stage(audiences: 5)
        /// Newest versions of the audiences at each question.
        var targets: [[UInt32]] = []
        var answered: [Int] = []
        for step in 0..<2000 {
            let place = Int.random(in: 0..<5, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: stage.shard.audiences[place].publish()
            case 1: stage.shard.audiences[place].deliver()
            case 2:
                stage.settling.ask(UInt64(targets.count))
                targets.append(stage.shard.audiences.map(\.target))
            default:
                guard let answer = stage.answer() else { continue }
                let question = Int(answer.question)
                let areThere = zip(stage.shard.audiences, targets[question]).allSatisfy { $0.delivered >= $1 }
                let isNext = question > answered.last ?? -1
                #expect(areThere && isNext && answer.isComplete, "seed \(seed), step \(step)")
                answered.append(question)
            }
        }
        for place in 0..<5 { stage.shard.audiences[place].deliver() }
        if let answer = stage.answer() { answered.append(Int(answer.question)) }
        #expect(answered.last == targets.count - 1 && answered.count > 10, "seed \(seed)")
    }
}
