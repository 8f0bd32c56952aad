import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct ResumedTopicsTests {
    private static let moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)

    private static func alert(
        _ cause: String, _ topic: String = "a", class alertClass: AlertClass = .essential, granted: Int64 = 0,
        text: String = "goal", isCauseOfProvider: Bool = true
    ) -> IssuedAlert {
        IssuedAlert(
            Alert(
                cause: cause, isCauseOfProvider: isCauseOfProvider, class: alertClass,
                text: AlertText(title: text, body: ""), freshFor: .seconds(60), highlight: nil,
                grantedAt: FeedTime(seconds: granted)), of: TopicID(topic), at: moment.monotonic)
    }

    private static func publication(_ score: Int64, event: Publication.Event = .update) -> Publication {
        Publication.test(of: TopicID("a"), event: event, state: ["score": .int(score)])
    }

    private static func causes(_ topics: ResumedTopics, _ topic: TopicIndex, after: Duration = .zero) -> [String] {
        var later = moment
        later.monotonic += after
        return topics.alerts(of: topic, at: later).map(\.alert.cause)
    }

    @Test func aTopicsAlertsAreItsOwnUntilTheyAreStaleOrRevokedOrItBeginsAnew() {
        var topics = ResumedTopics()
        #expect(!topics.hasAlerts && Self.causes(topics, 3).isEmpty)
        for cause in ["first", "second", "third"] { topics.note(Self.alert(cause), of: 3, weight: 1) }
        topics.note(Self.alert("second", "b"), of: 4, weight: 1)
        topics.revoke(cause: "second", of: 3)
        #expect(Self.causes(topics, 3) == ["first", "third"] && Self.causes(topics, 4) == ["second"])
        #expect(Self.causes(topics, 3, after: .seconds(59)) == ["first", "third"])
        #expect(Self.causes(topics, 3, after: .seconds(60)).isEmpty)
        topics.forget(3)
        #expect(Self.causes(topics, 3).isEmpty && Self.causes(topics, 4) == ["second"] && topics.hasAlerts)
    }

    private static func violation(of topics: ResumedTopics, rows: Int = 4, id: String = "a") -> String? {
        topics.violation(rows: rows) { _ in TopicID(id) }
    }

    @Test func alertsOfAnotherTopicOrOfNoneAreAViolation() {
        var topics = ResumedTopics()
        for number in 0..<20 { topics.note(Self.alert("\(number)", text: "\(number)"), of: 3, weight: 1) }
        #expect(Self.violation(of: topics) == nil)
        #expect(Self.violation(of: topics, rows: 3) != nil && Self.violation(of: topics, id: "b") != nil)
        topics.forget(3)
        #expect(Self.violation(of: topics, rows: 0, id: "b") == nil)
    }

    @Test func statesOfMoreTopicsThanThereAreAreAViolation() {
        var topics = ResumedTopics()
        topics.begin(at: 0)
        topics.noteHolders(of: Self.publication(1), 5)
        #expect(Self.violation(of: topics, rows: 6) == nil && Self.violation(of: topics, rows: 5) != nil)
        topics.end(newest: NewsNumber(), at: 0)
        #expect(Self.violation(of: topics, rows: 0) == nil)
    }

    /// The alert goes on with the weight of its news.
    @Test func theWeightOfItsNewsIsNotedInTheAlert() {
        var topics = ResumedTopics()
        topics.note(Self.alert("goal"), of: 3, weight: 42)
        #expect(topics.alerts(of: 3, at: Self.moment).map(\.issue.weight) == [42])
    }

    @Test func ofEachClassAsManyAlertsAreKeptAsAnAudienceKeeps() {
        var topics = ResumedTopics()
        topics.note(Self.alert("goal"), of: 3, weight: 1)
        let most = PendingAlert.perClassMax
        for number in 0..<most + 5 {
            topics.note(Self.alert("card \(number)", class: .ordinary), of: 3, weight: 1)
        }
        #expect(Self.causes(topics, 3) == ["goal"] + (5..<most + 5).map { "card \($0)" })
    }

    @Test func loadedCardsCompareWhatTheyHadWithTheTopicsState() {
        var topics = ResumedTopics()
        topics.noteHolders(of: Self.publication(1), 5)
        topics.noteHolders(of: Self.publication(2), 2)
        #expect([5, 2].allSatisfy { topics.hasHolders($0) } && [0, 4, 6, 900].allSatisfy { !topics.hasHolders($0) })
        #expect(topics.isShown(Self.publication(1), 5) && topics.isShown(Self.publication(2), 2))
        #expect(!topics.isShown(Self.publication(2), 5) && !topics.isShown(Self.publication(1), 900))
        // An end dismisses the card, whatever it shows.
        #expect(!topics.isShown(Self.publication(1, event: .end), 5))
        topics.forget(5)
        topics.forget(900)
        #expect(!topics.hasHolders(5) && topics.hasHolders(2))
        topics.forgetHolders()
        #expect(!topics.hasHolders(2))
    }

    @Test func alertsConcernLineupsThatWereBornBeforeTheEndOfLoading() {
        var (topics, news) = (ResumedTopics(), NewsNumber())
        topics.begin(at: 0)
        news.advance()
        let last = news
        news.advance()
        let later = news
        #expect(topics.isLoading && topics.concern(lineupBornAt: later))
        #expect(topics.loadedSince == 0 && ResumedTopics().loadedSince == .never)
        topics.noteHolders(of: Self.publication(1), 0)
        topics.end(newest: last, at: 0)
        #expect(!topics.isLoading && !topics.hasHolders(0))
        #expect(topics.concern(lineupBornAt: last) && !topics.concern(lineupBornAt: later))
    }

    @Test func alertsAreForgottenTenMinutesAfterTheEndOfLoadingAndNotBefore() {
        var topics = ResumedTopics()
        topics.begin(at: 0)
        topics.note(Self.alert("goal"), of: 3, weight: 1)
        topics.expire(at: 0 + AlertClaim.ageMax * 2)
        #expect(topics.hasAlerts && topics.isLoading)
        topics.end(newest: NewsNumber(), at: 7)
        topics.expire(at: 6 + AlertClaim.ageMax)
        #expect(topics.hasAlerts)
        topics.expire(at: 7 + AlertClaim.ageMax)
        #expect(!topics.hasAlerts)
    }

    /// A fact of two topics is told once, for the topic that had it first.
    @Test func anAlertHasBeenSaidIfAnotherTopicToldTheSameBefore() {
        let ours = Self.alert("goal", "b", granted: 5)
        let rows: [(IssuedAlert, Bool, String)] = [
            (Self.alert("goal", "a", granted: 4), true, "earlier"),
            (Self.alert("goal", "a", granted: 5), true, "at the same time, and its topic precedes"),
            (Self.alert("goal", "c", granted: 5), false, "at the same time, and its topic follows"),
            (Self.alert("goal", "a", granted: 6), false, "later"),
            (Self.alert("card", "a", granted: 4), false, "another cause"),
            (Self.alert("goal", "a", granted: 4, text: "own goal"), false, "another text"),
            (Self.alert("goal", "b", granted: 4), false, "the same topic"),
        ]
        for (other, isRepeat, reason) in rows {
            var topics = ResumedTopics()
            topics.note(other, of: 3, weight: 1)
            #expect(topics.isRepeat(ours, in: [1, 3]) == isRepeat, "\(reason)")
            #expect(!topics.isRepeat(ours, in: [1, 2]), "\(reason)")
            topics.revoke(cause: other.alert.cause, of: 3)
            #expect(!topics.isRepeat(ours, in: [1, 3]), "\(reason), and revoked")
        }
        var topics = ResumedTopics()
        topics.note(Self.alert("goal", "a", granted: 4, isCauseOfProvider: false), of: 3, weight: 1)
        let own = Self.alert("goal", "b", granted: 5, isCauseOfProvider: false)
        #expect(!topics.isRepeat(own, in: [3]), "causes of our own are equal by chance")
    }

    @Test func anAlertConcernsALoadedCardUnlessItHadItOrLeaves() {
        let (old, resumed) = (Self.alert("goal", granted: 100), Self.alert("goal", granted: 100))
        resumed.isResumed = true
        let settled = [nil, 99, 100, 101].map { (second: Int64?) in second.map { FeedTime(seconds: $0) } }
        for (through, isOpen) in zip(settled, [true, true, false, false]) {
            var earlier = EarlierDelivery(settledThrough: through)
            #expect(ResumedTopics.concerns(old, earlier), "an alert of this process concerns everybody")
            #expect(ResumedTopics.concerns(old, earlier, hadNewest: true))
            #expect(ResumedTopics.concerns(resumed, earlier) == isOpen)
            #expect(!ResumedTopics.concerns(resumed, earlier, hadNewest: true))
            earlier.isLeaving = true
            #expect(!ResumedTopics.concerns(old, earlier) && !ResumedTopics.concerns(resumed, earlier))
        }
    }
}
