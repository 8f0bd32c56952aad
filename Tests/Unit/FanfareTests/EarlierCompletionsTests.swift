import FanfareLog
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

/// Which completions of an earlier process a restart believes.
@Suite struct EarlierCompletionsTests {
    private static let before = FeedTime(seconds: 1_790_000_000)

    private static func publication(version: UInt32, goals: Int64, birth: UInt64 = 7) -> Publication {
        Publication.test(
            UInt64(version), numbered: TopicNumber(place: 0, birth: birth), kind: .generic,
            state: ["goals": .int(goals)])
    }

    /// Serial below which imported cards have a version.
    private static let serials: UInt64 = 10

    private static func completions(
        of publications: Publication..., app: AppID? = nil, except exceptions: [ActivityMark] = []
    ) -> EarlierCompletions {
        var completions = EarlierCompletions()
        for publication in publications {
            let completion = TopicCompletion(publication, before: before, except: exceptions)
            completions.insert(
                StoredCompletion(completion, app: app, serials: serials),
                at: CompletionKey(birth: publication.topic.birth, app: 0))
        }
        return completions
    }

    /// A goal that is cancelled leads back to a state of before, which not all need have: those whom the goal had reached may lack it.
    @Test func aCompletionIsOfOneVersionEvenIfAnotherShowsTheSame() {
        let completions = Self.completions(of: Self.publication(version: 1, goals: 0))
        #expect(completions.isOf(Self.publication(version: 1, goals: 0), app: nil))
        #expect(!completions.isOf(Self.publication(version: 3, goals: 0), app: nil))
        #expect(completions.outdated(by: [Self.publication(version: 1, goals: 0)]).isEmpty)
        #expect(completions.outdated(by: [Self.publication(version: 3, goals: 0)]) == [CompletionKey(birth: 7, app: 0)])
    }

    /// Two builds may show something else by one version.
    @Test func aCompletionIsOfWhatItsVersionShows() {
        let completions = Self.completions(of: Self.publication(version: 1, goals: 0))
        #expect(!completions.isOf(Self.publication(version: 1, goals: 1), app: nil))
        #expect(completions.outdated(by: [Self.publication(version: 1, goals: 1)]).count == 1)
    }

    /// The next guests at a table have nothing of what the ones before had.
    @Test func aCompletionIsOfOneTenureOfATopic() {
        let former = Self.publication(version: 1, goals: 0)
        let next = Self.publication(version: 1, goals: 0, birth: 9)
        #expect(!Self.completions(of: former).isOf(next, app: nil))
        // Which of them a store has first does not matter.
        for completions in [Self.completions(of: former, next), Self.completions(of: next, former)] {
            #expect(completions.isOf(next, app: nil) && !completions.isOf(former, app: nil))
            #expect(completions.outdated(by: [next]) == [CompletionKey(birth: 7, app: 0)])
        }
    }

    /// Rows of an earlier form do not say what their version shows.
    @Test func aCompletionOfAnEarlierFormIsOfItsVersionWhateverThatShows() {
        var completions = EarlierCompletions()
        completions.insert(
            StoredCompletion(
                topic: TopicID("match"), app: nil, birth: 7, version: 1, displayHash: nil, before: Self.before,
                serials: Self.serials), at: CompletionKey(birth: 7, app: 0))
        #expect(completions.isOf(Self.publication(version: 1, goals: 5), app: nil))
        #expect(!completions.isOf(Self.publication(version: 2, goals: 5), app: nil))
    }

    @Test func aCompletionInOneAppSaysNothingOfAnother() {
        let (one, two) = (AppID(bundleID: "one"), AppID(bundleID: "two"))
        let shown = Self.publication(version: 1, goals: 0)
        let completions = Self.completions(of: shown, app: one)
        #expect(completions.isOf(shown, app: one) && !completions.isOf(shown, app: two))
        #expect(!completions.isOf(shown, app: nil))
        let card = Self.subscription(joinedAt: -1)
        #expect(completions.hasVersion(card, app: one) && !completions.hasVersion(card, app: two))
    }

    @Test func placesOfWhatNoTopicShowsAreOutdatedInTheOrderOfTheStore() {
        #expect(EarlierCompletions().isEmpty && EarlierCompletions().outdated(by: []).isEmpty)
        let births: [UInt64] = [8, 7, 9]
        var completions = EarlierCompletions()
        for birth in births {
            let completion = TopicCompletion(
                Self.publication(version: 1, goals: 0, birth: birth), before: Self.before)
            for app in 0..<2 {
                completions.insert(
                    StoredCompletion(completion, app: AppID(bundleID: "\(app)"), serials: Self.serials),
                    at: CompletionKey(birth: birth, app: app))
            }
        }
        #expect(!completions.isEmpty)
        func places(_ births: [UInt64]) -> [CompletionKey] {
            births.flatMap { birth in (0..<2).map { CompletionKey(birth: birth, app: $0) } }
        }
        #expect(completions.outdated(by: []) == places(births))
        #expect(completions.outdated(by: [Self.publication(version: 1, goals: 0, birth: 7)]) == places([8, 9]))
    }

    // MARK: Cards

    /// - Parameter second: time at which the card joined, from the time before which joiners have the version; `nil` for an imported card.
    private static func subscription(
        _ activity: ActivityID = "card", token: [UInt8] = [1], to audience: AudienceKey = .topic(TopicID("match")),
        joinedAt second: Int64? = nil, serial: UInt64? = 100
    ) -> Subscription {
        var subscription = Subscription(
            audience: audience, activity: activity, subscriber: 1, token: token,
            joinedAt: second.map { before + .seconds($0) })
        subscription.serial = serial
        return subscription
    }

    private static func hasVersion(_ subscription: Subscription, except exceptions: [ActivityMark] = []) -> Bool {
        completions(of: publication(version: 1, goals: 0), except: exceptions).hasVersion(subscription, app: nil)
    }

    /// Others may have joined at that very time, behind the completion.
    @Test func aCardThatJoinedBeforeACompletionsTimeHasTheVersion() {
        #expect(Self.hasVersion(Self.subscription(joinedAt: -1)))
        #expect(!Self.hasVersion(Self.subscription(joinedAt: 0)))
        #expect(!Self.hasVersion(Self.subscription(joinedAt: 1, serial: 1)), "its time says more than its serial")
    }

    @Test func anImportedCardHasTheVersionIfItWasStoredBeforeTheCompletion() {
        #expect(Self.hasVersion(Self.subscription(serial: Self.serials - 1)))
        #expect(!Self.hasVersion(Self.subscription(serial: Self.serials)))
    }

    @Test func aCardThatTheStoreDoesNotHaveLacksTheVersionWheneverItJoined() {
        #expect(!Self.hasVersion(Self.subscription(joinedAt: -1, serial: nil)))
    }

    @Test func aCompletionIsOfCardsThatShowItsTopicAlone() {
        let (match, other) = (TopicID("match"), TopicID("other"))
        #expect(!Self.hasVersion(Self.subscription(to: .topic(other), joinedAt: -1)))
        #expect(
            !Self.hasVersion(Self.subscription(to: .lineup([match]), joinedAt: -1)), "a lineup's version is another")
    }

    /// A topic that the store does not name has nothing to show, or is published without being complete.
    @Test func aLineupShowsTheVersionsThatTheStoreNamesForItsTopics() {
        let topics = ["a", "b", "c"].map { TopicID($0) }
        var completions = EarlierCompletions()
        for (place, topic) in topics.prefix(2).enumerated() {
            let publication = Publication.test(of: topic, numbered: TopicNumber(place: 0, birth: UInt64(place + 1)))
            let before = Self.before + .seconds(place * 10)
            let lacking = place == 0 ? [] : [ActivityMark("lacks", token: [])]
            let completion = TopicCompletion(publication, of: .lineups, before: before, except: lacking)
            completions.insert(
                StoredCompletion(completion, app: nil, serials: Self.serials),
                at: CompletionKey(birth: publication.topic.birth, app: 0, of: .lineups))
            #expect(completions.isOf(publication, app: nil, in: .lineups))
            #expect(completions.joinersEnd(of: publication, app: nil, in: .lineups) == before)
            #expect(!completions.isOf(publication, app: nil), "followers may lack it")
        }
        func topicsShown(_ activity: ActivityID, _ topics: [TopicID], joinedAt second: Int64) -> Int {
            let subscription = Self.subscription(activity, to: .lineup(topics, favourite: nil), joinedAt: second)
            return completions.topicsShown(by: subscription, app: nil)
        }
        #expect(topicsShown("has", topics, joinedAt: -1) == 2)
        #expect(topicsShown("has", [topics[1]], joinedAt: 5) == 1)
        #expect(topicsShown("has", topics, joinedAt: 5) == 0, "it has joined after one of them")
        #expect(topicsShown("lacks", topics, joinedAt: -1) == 0 && topicsShown("has", [topics[2]], joinedAt: -1) == 0)
    }

    @Test func exceptionsLackTheVersionOfACompletionAndOtherCardsHaveIt() {
        let lacking = [ActivityMark("lacks", token: []), ActivityMark(ActivityID(7), token: [7])]
        #expect(!Self.hasVersion(Self.subscription("lacks", joinedAt: -1), except: lacking))
        #expect(Self.hasVersion(Self.subscription("has", joinedAt: -1), except: lacking))
        // A card without an id of its app is named by its token.
        #expect(!Self.hasVersion(Self.subscription(ActivityID(8), token: [7], joinedAt: -1), except: lacking))
        #expect(Self.hasVersion(Self.subscription(ActivityID(7), token: [8], joinedAt: -1), except: lacking))
        #expect(
            !Self.hasVersion(Self.subscription("has", joinedAt: 0), except: lacking), "an exception is none of others")
    }
}
