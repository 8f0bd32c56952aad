import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct SettlingTests {
    private static let publication = Publication.test()

    /// Audiences of one member each, activities, and what is due to these for themselves.
    private struct Stage {
        var settling = Settling()
        var audiences: [Audience]
        var activities: [Activity]
        var due: [ActivitySlot: Settling.DuePush] = [:]
        var unvisited = UnvisitedNews(topics: [], newest: NewsNumber())

        init(audiences: Int = 0, activities: Int = 0) {
            self.audiences = (0..<audiences).map { _ in SettlingTests.audience() }
            self.activities = (0..<activities).map { Activity(id: ActivityID(UInt64($0))) }
        }

        mutating func answer() -> Settling.Answer? {
            let (news, pushes) = (unvisited, due)
            return settling.takeSettled(
                audiences, activities, unvisited: { news }, duePush: { pushes[$0, default: .none] })
        }
    }

    /// An audience of one member, which has the newest version.
    private static func audience(_ lineup: Lineup? = nil) -> Audience {
        let audience = Audience(topics: [0], lineup: lineup, trackedMax: 1)
        audience.order.rest(ActivitySlot(0))
        audience.versions.join()
        return audience
    }

    private static func publish(to audience: Audience) {
        audience.publish(AudienceVersion(publication), alerting: nil, freshness: 0, at: 0)
    }

    /// Notes that the member has a version whose push was in flight.
    private static func accept(_ version: UInt32, by audience: Audience) {
        let old = audience.versions.oldest
        audience.versions.advance(1, from: old, to: version)
        audience.versions.conclude(1, version)
        if version == audience.target { audience.owed = 0 }
    }

    /// Sends the newest version, which the member gets.
    private static func deliver(to audience: Audience) {
        guard audience.owed > 0 else { return }
        audience.versions.noteSent(1)
        accept(audience.target, by: audience)
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
        let audience = stage.audiences[0]
        Self.publish(to: audience)
        stage.settling.ask(1)
        let early = stage.answer()
        audience.versions.noteSent(1)
        Self.publish(to: audience)
        let late = stage.answer()
        #expect(early == nil && late == nil)
        Self.accept(1, by: audience)
        let answer = stage.answer()
        #expect(audience.owed == 1 && answer?.question == 1 && answer?.isComplete == true)
    }

    @Test func aNewerVersionIsAsGoodAsTheOneThatWasAwaited() {
        var stage = Stage(audiences: 1)
        Self.publish(to: stage.audiences[0])
        stage.settling.ask(1)
        let early = stage.answer()
        Self.publish(to: stage.audiences[0])
        Self.deliver(to: stage.audiences[0])
        let answer = stage.answer()
        #expect(early == nil && answer?.question == 1)
    }

    @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0]]) func eachAudienceThatLackedAVersionIsAwaited(order: [Int]) {
        var stage = Stage(audiences: 3)
        for audience in stage.audiences { Self.publish(to: audience) }
        stage.settling.ask(1)
        var answers = [stage.answer()?.question]
        for place in order {
            Self.deliver(to: stage.audiences[place])
            answers.append(stage.answer()?.question)
        }
        #expect(answers == [nil, nil, nil, 1])
    }

    @Test func questionsDuringASurveyAreAnsweredByTheNextOneWithItsNewest() {
        var stage = Stage(audiences: 2)
        Self.publish(to: stage.audiences[0])
        stage.settling.ask(1)
        let early = stage.answer()
        stage.settling.ask(2)
        Self.publish(to: stage.audiences[1])
        stage.settling.ask(3)
        Self.deliver(to: stage.audiences[0])
        let first = [stage.answer()?.question, stage.answer()?.question]
        Self.deliver(to: stage.audiences[1])
        let second = stage.answer()
        #expect(early == nil && first == [1, nil] && second?.question == 3 && stage.settling.isIdle)
    }

    @Test func oneAnswerStandsForTwoSurveysThatEndTogether() {
        var stage = Stage(audiences: 1)
        Self.publish(to: stage.audiences[0])
        stage.settling.ask(1)
        let early = stage.answer()
        stage.settling.ask(2)
        Self.deliver(to: stage.audiences[0])
        let answer = stage.answer()
        #expect(early == nil && answer?.question == 2 && stage.settling.isIdle)
    }

    @Test func aVersionThatWasRefusedForGoodIsNotAwaitedAndTheAnswerSaysSo() {
        var stage = Stage(audiences: 1)
        let audience = stage.audiences[0]
        Self.publish(to: audience)
        (audience.owed, audience.refused) = (0, 1)
        stage.settling.ask(1)
        let refused = stage.answer()
        Self.publish(to: audience)
        Self.deliver(to: audience)
        stage.settling.ask(2)
        let newer = stage.answer()
        #expect(refused?.question == 1 && refused?.isComplete == false)
        #expect(newer?.question == 2 && newer?.isComplete == true, "the member has something newer")
    }

    @Test func changesThatALineupHoldsBackAreAwaitedUntilTheirVersionIsThere() {
        let lineup = Lineup(rotation: Rotation(LineupRules(), at: .always))
        lineup.deferred = [7]
        var stage = Stage()
        stage.audiences = [Self.audience(lineup)]
        stage.settling.ask(1)
        let held = stage.answer()
        lineup.deferred = []
        Self.publish(to: stage.audiences[0])
        let published = stage.answer()
        Self.deliver(to: stage.audiences[0])
        let delivered = stage.answer()
        #expect(held == nil && published == nil && delivered?.question == 1 && delivered?.isComplete == true)
    }

    @Test func changesThatALineupHoldsBackAfterTheQuestionAreNotAwaited() {
        let lineup = Lineup(rotation: Rotation(LineupRules(), at: .always))
        var stage = Stage()
        stage.audiences = [Self.audience(lineup)]
        Self.publish(to: stage.audiences[0])
        stage.settling.ask(1)
        let early = stage.answer()
        lineup.deferred = [7]
        Self.deliver(to: stage.audiences[0])
        let answer = stage.answer()
        #expect(early == nil && answer?.question == 1)
    }

    /// The audience has rested, and its object serves another one.
    @Test func anAudienceThatIsNoLongerThereIsNotAwaitedNorIsItsSuccessor() {
        var stage = Stage(audiences: 1)
        let audience = stage.audiences[0]
        Self.publish(to: audience)
        stage.settling.ask(1)
        let early = stage.answer()
        audience.wake(
            RestingFollower(topic: 4, member: ActivitySlot(9), number: 0, freshness: 0, alerts: nil), showing: nil)
        (audience.owed, audience.refused) = (1, 1)
        let answer = stage.answer()
        #expect(early == nil && answer?.question == 1 && answer?.isComplete == true)
    }

    @Test func anActivitysOwnPushIsAwaitedAndItsRefusalIsSaid() {
        for (outcome, isComplete) in [(.none, true), (.refused, false)] as [(Settling.DuePush, Bool)] {
            var stage = Stage(activities: 3)
            stage.due[ActivitySlot(1)] = .pending
            stage.settling.ask(1)
            let early = stage.answer()
            stage.due[ActivitySlot(1)] = outcome
            let answer = stage.answer()
            #expect(early == nil && answer?.question == 1 && answer?.isComplete == isComplete)
        }
    }

    @Test func thePushOfASlotsNextTenantIsNotAwaited() {
        var stage = Stage(activities: 1)
        stage.due[ActivitySlot(0)] = .pending
        stage.settling.ask(1)
        let early = stage.answer()
        // A wait of the same tenant has ended.
        stage.activities[0].generation += 1
        let later = stage.answer()
        stage.activities[0].generation += 256
        let answer = stage.answer()
        #expect(early == nil && later == nil && answer?.question == 1 && answer?.isComplete == true)
    }

    @Test func audiencesAndActivitiesThatComeDuringASurveyAreNotAwaited() {
        var stage = Stage(audiences: 1, activities: 1)
        Self.publish(to: stage.audiences[0])
        stage.settling.ask(1)
        let early = stage.answer()
        stage.audiences.append(Self.audience())
        Self.publish(to: stage.audiences[1])
        stage.activities.append(Activity(id: ActivityID(9)))
        stage.due[ActivitySlot(1)] = .pending
        Self.deliver(to: stage.audiences[0])
        let answer = stage.answer()
        #expect(early == nil && answer?.question == 1)
    }

    @Test func newsThatALineupHasNotLookedAtAreAwaitedAndLaterOnesAreNot() {
        let topic = TopicLineups(newest: NewsNumber())
        var positions: [UInt32] = [0]
        topic.order.joinVisited(LineupLink(rawValue: 0), positions: &positions)
        var number = NewsNumber()
        func publish() {
            number.advance()
            _ = topic.append(Self.publication, alert: nil, number: number, at: 0) { _ in }
        }
        publish()
        let first = number
        var stage = Stage()
        stage.unvisited = UnvisitedNews(topics: [topic], newest: first)
        stage.settling.ask(1)
        let early = stage.answer()
        publish()
        topic.take(after: NewsNumber(), through: first, look: { _ in }, exhaust: { _ in })
        let answer = stage.answer()
        #expect(early == nil && topic.news.count == 1 && answer?.question == 1)
    }

    @Test func whereNothingIsPendingTheNewestQuestionIsAnsweredAndTheSurveyEnds() {
        var stage = Stage(audiences: 1)
        Self.publish(to: stage.audiences[0])
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
            var stage = Stage()
            stage.audiences = Array(repeating: Self.audience(), count: audiences)
            stage.activities = Array(repeating: Activity(id: ActivityID(1)), count: activities)
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
            let audience = stage.audiences[Int.random(in: 0..<5, using: &random)]
            switch Int.random(in: 0..<4, using: &random) {
            case 0: Self.publish(to: audience)
            case 1: Self.deliver(to: audience)
            case 2:
                stage.settling.ask(UInt64(targets.count))
                targets.append(stage.audiences.map(\.target))
            default:
                guard let answer = stage.answer() else { continue }
                let question = Int(answer.question)
                let areThere = zip(stage.audiences, targets[question]).allSatisfy { $0.versions.oldest >= $1 }
                let isNext = question > answered.last ?? -1
                #expect(areThere && isNext && answer.isComplete, "seed \(seed), step \(step)")
                answered.append(question)
            }
        }
        for audience in stage.audiences { Self.deliver(to: audience) }
        if let answer = stage.answer() { answered.append(Int(answer.question)) }
        #expect(answered.last == targets.count - 1 && answered.count > 10, "seed \(seed)")
    }
}
