import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

/// One shard with one topic, and a clock and a network under the test's control.
final class StartStage {
    let shard: Shard
    let topic = TopicID("match")
    private(set) var moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1_000_000_000)
    private var serial: UInt64 = 0
    private let ring = OneToOneRing<ShardFeedback>(capacity: 1024)
    private var feedbackIn: RingProducer<ShardFeedback>
    private var feedbackOut: RingConsumer<ShardFeedback>

    init(_ shard: Shard = Shard()) {
        self.shard = shard
        feedbackIn = ring.takeProducer()
        feedbackOut = ring.takeConsumer()
    }

    struct Push {
        let payload: Payload
        let token: [UInt8]
        fileprivate let slot: ActivitySlot
        fileprivate let generation: UInt32
        var event: Payload.Event { payload.event }
        var state: String { String(decoding: payload.state, as: UTF8.self) }
    }

    static func request(_ activity: String = "card", device: UInt8 = 7, number: UInt32 = 7) -> StartRequest {
        StartRequest(
            activity: activity, token: [device], attributesType: "MatchAttributes", attributes: ["match": "m1"],
            alert: AlertText(title: "Kick-off", body: "The match has started")
        ).numbered(number)
    }

    func start(_ activity: String = "card", device: UInt8 = 7, number: UInt32 = 7) {
        shard.apply(.start(StartStage.request(activity, device: device, number: number), .topic(topic)), at: moment)
    }

    func follow(
        _ activity: String = "card", token: UInt8 = 1, in topic: TopicID? = nil, preferences: Preferences? = nil,
        age: Duration = .zero
    ) {
        let startedAt = FeedTime(milliseconds: moment.wallMilliseconds) + (.zero - age)
        shard.apply(
            .follow(
                ActivityID(hashing: activity), .topic(topic ?? self.topic), token: [token], preferences: preferences,
                startedAt: startedAt), at: moment)
    }

    func move(_ activity: String = "card", to topic: TopicID) {
        shard.apply(.move(ActivityID(hashing: activity), .topic(topic)), at: moment)
    }

    func unfollow(_ activity: String = "card") { shard.apply(.unfollow(ActivityID(hashing: activity)), at: moment) }

    func publish(
        _ score: Int64, in topic: TopicID? = nil, alert: String? = nil, class: AlertClass = .essential,
        event: Publication.Event = .update, renews: Bool = false
    ) {
        serial += 1
        shard.apply(
            .publish(
                Publication(
                    serial: serial, topicID: topic ?? self.topic, topicKind: .generic, version: UInt32(serial),
                    event: event,
                    state: EncodedState(["score": .int(score)]), priority: .conserving,
                    alert: alert.map {
                        Alert(
                            cause: $0, class: `class`, text: AlertText(title: "\($0)", body: ""),
                            freshFor: .seconds(300), highlight: nil)
                    }, staleAfter: .seconds(600), dismissAfter: event == .end ? .seconds(900) : nil,
                    expiry: Expiry(renews: renews, dismissAfter: .seconds(1200)))), at: moment)
    }

    func revoke(_ cause: String) { shard.apply(.revokeAlert(topic: topic, cause: cause), at: moment) }

    func pass(seconds: Int64) {
        moment.monotonic += .seconds(seconds)
        moment.wallMilliseconds += seconds * 1000
    }

    /// Begins with a card that was started by a push, has its token and is an hour old; its topic renews cards.
    func beginRenewable() {
        publish(1, renews: true)
        start()
        _ = settle()
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

    func pull() -> [Push] {
        var batch = DeliveryBatch()
        shard.pull(limit: 100, at: moment, into: &batch)
        return batch.deliveries.map {
            Push(
                payload: batch.payload(of: $0), token: Array(batch.tokens[$0.token]), slot: $0.slot,
                generation: $0.generation)
        }
    }

    func answer(_ pushes: [Push], _ outcome: DeliveryOutcome) {
        shard.complete(
            pushes.map { Completion(slot: $0.slot, generation: $0.generation, outcome: outcome) }, at: moment)
    }

    /// Pulls all pushes that are due, and answers each with this outcome.
    func settle(_ outcome: DeliveryOutcome = .accepted) -> [Push] {
        var all: [Push] = []
        while case let pushes = pull(), !pushes.isEmpty {
            answer(pushes, outcome)
            all += pushes
        }
        return all
    }

    func prefer(_ preferences: Preferences, _ activity: String = "card") {
        shard.apply(.prefer(ActivityID(hashing: activity), preferences), at: moment)
    }

    /// Returns the shard's answer to a question about an alert.
    func disposition(of cause: String, _ activity: String = "card") -> AlertDisposition? {
        _ = shard.sendFeedback(to: &feedbackIn)
        while feedbackOut.pop() != nil {}
        shard.apply(.reportDisposition(7, ActivityID(hashing: activity), topic, cause: cause), at: moment)
        _ = shard.sendFeedback(to: &feedbackIn)
        while let fact = feedbackOut.pop() {
            if case .disposition(7, let disposition) = fact { return disposition }
        }
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
        _ = shard.sendFeedback(to: &feedbackIn)
        var told: [Told] = []
        while let fact = feedbackOut.pop() { if case .fate(let id, let fate) = fact { told.append(Told(id, fate)) } }
        return told
    }

    /// Returns the claims that were asked for since the last call.
    func claims() -> [ClaimRequest] {
        _ = shard.sendFeedback(to: &feedbackIn)
        var requests: [ClaimRequest] = []
        while let fact = feedbackOut.pop() { if case .claims(let request) = fact { requests.append(request) } }
        return requests
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
        _ = shard.sendFeedback(to: &feedbackIn)
        var removals: [Removal] = []
        while let fact = feedbackOut.pop() {
            if case .removed(let id, let token) = fact { removals.append(Removal(id, token)) }
        }
        return removals
    }

    /// Tells the shard that its claims up to that ticket are durable.
    func confirm(_ ticket: UInt64) { shard.apply(.claimed(ticket), at: moment) }

    func fates() -> [ActivityFate] { told().map(\.fate) }
}
