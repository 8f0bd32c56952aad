import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// Words for one topic and for the cards that follow it, by name.
extension EmbeddedShard {
    var topic: TopicID { TopicID("match") }

    static func request(_ activity: String = "card", device: UInt8 = 7, number: UInt32 = 7) -> StartRequest {
        StartRequest(
            activity: activity, token: [device], attributesType: "MatchAttributes", attributes: ["match": "m1"],
            alert: AlertText(title: "Kick-off", body: "The match has started")
        ).numbered(number)
    }

    func start(_ activity: String = "card", device: UInt8 = 7, number: UInt32 = 7) {
        apply(.start(EmbeddedShard.request(activity, device: device, number: number), .topic(topic)))
    }

    func follow(
        _ activity: String = "card", token: UInt8 = 1, in topic: TopicID? = nil, preferences: Preferences? = nil,
        age: Duration = .zero
    ) {
        let startedAt = moment.wall + (.zero - age)
        apply(
            .follow(
                ActivityID(hashing: activity), .topic(topic ?? self.topic), token: [token], preferences: preferences,
                startedAt: startedAt))
    }

    func move(_ activity: String = "card", to topic: TopicID) {
        apply(.move(ActivityID(hashing: activity), .topic(topic)))
    }

    func unfollow(_ activity: String = "card") { apply(.unfollow(ActivityID(hashing: activity))) }

    func setPreferences(_ preferences: Preferences, _ activity: String = "card") {
        apply(.setPreferences(ActivityID(hashing: activity), preferences))
    }

    func publish(
        _ score: Int64, in topic: TopicID? = nil, alert: String? = nil, class: AlertClass = .essential,
        event: Publication.Event = .update, renews: Bool = false
    ) {
        let alert = alert.map {
            Alert(
                cause: $0, class: `class`, text: AlertText(title: "\($0)", body: ""), freshFor: .seconds(300),
                highlight: nil)
        }
        publish(
            Publication.test(
                nextSerial(), of: topic ?? self.topic, kind: .generic, event: event, state: ["score": .int(score)],
                priority: .conserving, alert: alert, staleAfter: .seconds(600),
                dismissal: event == .end ? .after(.seconds(900)) : nil,
                expiry: Expiry(renews: renews, dismissal: .after(.seconds(1200)))))
    }

    func revoke(_ cause: String) { apply(.revokeAlert(topic: topic, cause: cause)) }

    /// Tells the shard that its claims up to that ticket are durable.
    func confirm(_ ticket: UInt64) { apply(.claimed(ticket)) }

    // MARK: Time

    /// Begins with a card that was started by a push, has its token and is an hour old; its topic renews cards.
    func beginRenewable() {
        publish(1, renews: true)
        start()
        settle()
        follow()
        pass(seconds: 3600)
        #expect(settle().isEmpty)
    }

    /// Lets time pass in which each push is answered with this outcome, one pull every ten seconds.
    func pass(seconds: Int64, answering outcome: DeliveryOutcome) {
        for _ in 0..<seconds / 10 {
            answer(pull(), outcome)
            pass(seconds: 10)
        }
    }

    /// Lets time pass until the network gets a push.
    func passUntilPush(seconds max: Int64) -> (after: Int64, pushes: [Push]) {
        for second in 0..<max {
            let pushes = pull()
            if !pushes.isEmpty { return (second, pushes) }
            pass(seconds: 1)
        }
        return (max, pull())
    }

    // MARK: Feedback

    /// Returns the shard's answer to a question about an alert.
    func disposition(of cause: String, _ activity: String = "card") -> AlertDisposition? {
        _ = feedback()
        apply(.reportDisposition(7, ActivityID(hashing: activity), topic, cause: cause))
        for case .disposition(7, let disposition) in feedback() { return disposition }
        return nil
    }

    struct Told: Equatable {
        let id: ActivityID
        let fate: ActivityFate

        init(_ activity: String, _ fate: ActivityFate) { self.init(ActivityID(hashing: activity), fate) }

        fileprivate init(_ id: ActivityID, _ fate: ActivityFate) {
            self.id = id
            self.fate = fate
        }
    }

    /// Returns the fates reported since the last call.
    func told() -> [Told] {
        feedback().compactMap { if case .fate(let id, let fate) = $0 { Told(id, fate) } else { nil } }
    }

    func fates() -> [ActivityFate] { told().map(\.fate) }

    /// Returns the claims that were asked for since the last call.
    func claims() -> [ClaimRequest] {
        feedback().compactMap { if case .claims(let request) = $0 { request } else { nil } }
    }

    struct Removal: Equatable {
        let id: UInt64
        let token: UInt64

        init(_ activity: String, _ token: [UInt8]) {
            (id, self.token) = (ActivityID(hashing: activity).rawValue, token.keyedHash)
        }

        fileprivate init(_ id: UInt64, _ token: UInt64) { (self.id, self.token) = (id, token) }
    }

    /// Returns the removals that were reported since the last call.
    func removals() -> [Removal] {
        feedback().compactMap { if case .removed(let id, let token) = $0 { Removal(id, token) } else { nil } }
    }
}
