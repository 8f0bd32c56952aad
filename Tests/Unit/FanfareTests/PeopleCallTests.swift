import FanfareFanOut
import FanfareLog
import FanfareModel
import Testing

@testable import Fanfare

@Suite struct PeopleCallTests {
    private static let now = FeedTime(seconds: 1_790_000_000)
    private static let audience = AudienceKey.topic(TopicID("match/1"))

    private static func call(of app: String?, first: String?) -> PeopleCall {
        PeopleCall(
            subscriber: SubscriberID("anna", app: app.map { AppID(bundleID: $0) }),
            firstApp: first.map { AppID(bundleID: $0) }, now: now)
    }

    private static func card(in entry: PeopleEntry?) -> Card? {
        switch entry {
        case .follow(let card), .start(let card): card
        default: nil
        }
    }

    private static func followed(by call: PeopleCall, startedAt: FeedTime? = nil) -> Card? {
        let subscription = Subscription(
            audience: audience, activity: ActivityID("card"), subscriber: call.subscriber, token: [1],
            startedAt: startedAt)
        return card(in: call.entry(subscription))
    }

    private static let start = ShardCommand.start(
        StartRequest(
            activity: "card", token: [2], attributesType: "Match", alert: AlertText(title: "Kick-off", body: "")),
        audience)

    @Test func aRowNamesTheAppOfItsCallAndOtherwiseTheFirstOne() {
        for (named, first, app) in [("two", "one", "two"), (nil, "one", "one"), (nil, nil, nil)]
            as [(String?, String?, String?)]
        {
            let call = Self.call(of: named, first: first)
            let (followed, started) = (Self.followed(by: call), Self.card(in: call.entry(Self.start)))
            #expect(followed?.app?.bundleID == app && started?.app?.bundleID == app)
            #expect(followed?.subscriber == "anna" && started?.phase == .starting)
        }
    }

    @Test func aCardWithoutAPossibleBeginningBeginsWithItsCall() {
        let call = Self.call(of: nil, first: "one")
        let before = Self.now + (.zero - Duration.seconds(60))
        #expect(Self.followed(by: call)?.startedAt == Self.now)
        #expect(Self.followed(by: call, startedAt: before)?.startedAt == before)
        #expect(Self.followed(by: call, startedAt: FeedTime(milliseconds: 0))?.startedAt == Self.now)
    }

    @Test func aCallForAKnownCardSaysWhatItChanges() {
        let (call, id) = (Self.call(of: nil, first: "one"), ActivityID("card"))
        #expect(call.entry(.move(id, Self.audience)) == .move(id, Self.audience))
        #expect(call.entry(.replaceToken(id, token: [3])) == .replaceToken(id, [3], shownAt: Self.now))
        #expect(call.entry(.unfollow(id)) == .unfollow(id))
        #expect(call.entry(.confirmDeadTokens) == nil)
    }

    @Test func anActivityThatIsKnownByAHashAloneHasNoRow() {
        let call = Self.call(of: nil, first: "one")
        let subscription = Subscription(
            audience: Self.audience, activity: ActivityID(7), subscriber: call.subscriber, token: [1])
        #expect(call.entry(subscription) == nil)
    }
}
