import FanfareFanOut
import FanfareLineup
import FanfareModel
import Foundation

/// One shard with an activity or two, time that is told to pass, and a network that takes everything at once.
final class Stage {
    let shard: Shard
    private(set) var moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1_000_000_000)
    private var serial: UInt64 = 0
    private var scores: [String: Int64] = [:]
    private var extras: [String: Int64] = [:]
    /// Times for which topics are scheduled, as their next publications say.
    var schedule: [String: FeedTime] = [:]

    private var flying: [Delivery] = []
    private var batch = DeliveryBatch()

    /// - Parameter lineups: alerts leave at once, where nothing else is said.
    init(lineups: LineupRules = LineupRules(gather: .zero)) { shard = Shard(lineups: lineups) }

    struct Push {
        let payload: Payload
        let content: Content?
        /// Who gets it.
        let activity: UInt64
        /// Monotonic nanoseconds.
        let time: MonotonicTime
        /// Seconds since the stage was set.
        var at: Int64 { time.nanoseconds / 1_000_000_000 - 1 }
        /// Id of the topic in the spotlight.
        var spotlight: String? { content?.spotlight.flatMap { content?.topics[$0.index].id } }
        var shown: [String] { content?.topics.map(\.id) ?? [] }
    }

    func follow(
        _ topics: [String], favourite: String? = nil, activity: UInt64 = 1, _ preferences: Preferences? = nil
    ) {
        shard.apply(
            .follow(
                ActivityID(activity), .lineup(topics.map { TopicID($0) }, favourite: favourite.map { TopicID($0) }),
                token: [UInt8(activity)], preferences: preferences), at: moment)
    }

    func move(_ topics: [String], favourite: String? = nil, activity: UInt64 = 1) {
        shard.apply(
            .move(ActivityID(activity), .lineup(topics.map { TopicID($0) }, favourite: favourite.map { TopicID($0) })),
            at: moment)
    }

    /// A goal with its alert, which changes the row.
    func goal(_ topic: String) {
        scores[topic, default: 0] += 1
        publish(topic, priority: .immediate, alert: "goal \(scores[topic] ?? 0) in \(topic)", news: 100)
    }

    /// Changes the topic's state, and not its row.
    func card(_ topic: String) {
        extras[topic, default: 0] += 1
        publish(topic, news: 60)
    }

    /// Changes the row, and is worth no spotlight.
    func point(_ topic: String) {
        scores[topic, default: 0] += 1
        publish(topic)
    }

    /// Something that nobody outside the spotlight sees.
    func detail(_ topic: String) {
        extras[topic, default: 0] += 1
        publish(topic)
    }

    func end(_ topic: String, dismissAfter: Duration) {
        publish(topic, event: .end, priority: .immediate, dismissAfter: dismissAfter)
    }

    func publish(
        _ topic: String, event: Publication.Event = .update, priority: Priority = .conserving, alert: String? = nil,
        isCauseOfProvider: Bool = true, news: Int? = nil, hasBegun: Bool = true, dismissAfter: Duration? = nil,
        fill: Int = 0
    ) {
        serial += 1
        let score = scores[topic, default: 0]
        shard.apply(
            .publish(
                Publication(
                    serial: serial, topicID: TopicID(topic), topicKind: .football,
                    version: UInt32(serial), event: event,
                    state: EncodedState([
                        "score": .int(score), "extra": .int(extras[topic, default: 0]), "highlight": "score",
                        "fill": .string(String(repeating: "-", count: fill)),
                    ]), priority: priority,
                    alert: alert.map {
                        Alert(
                            cause: $0, isCauseOfProvider: isCauseOfProvider, class: .essential,
                            text: AlertText(title: $0, body: "by somebody", sound: "default"),
                            freshFor: .seconds(300), highlight: "score")
                    }, prominence: Prominence(hasBegun: hasBegun, importance: 50, news: news),
                    short: ShortForms(compactLeading: "\(score)", compactTrailing: "-", minimal: "\(score)"),
                    staleAfter: nil, dismissAfter: dismissAfter, scheduledAt: schedule[topic])), at: moment)
    }

    /// What is due now, taken by the service.
    func pushes() -> [Push] {
        let pushes = pull()
        answer(.accepted)
        return pushes
    }

    func revoke(_ cause: String, of topic: String) {
        shard.apply(.revokeAlert(topic: TopicID(topic), cause: cause), at: moment)
    }

    func forget(_ topic: String) { shard.apply(.forget(TopicID(topic)), at: moment) }

    func unfollow(activity: UInt64 = 1) { shard.apply(.unfollow(ActivityID(activity)), at: moment) }

    /// What is due now, on its way to the service.
    func pull(limit: Int = 100) -> [Push] {
        batch.removeAll()
        shard.pull(limit: limit, at: moment, into: &batch)
        flying += batch.deliveries
        return batch.deliveries.map { delivery in
            let payload = batch.payload(of: delivery)
            return Push(
                payload: payload, content: try? JSONDecoder().decode(Content.self, from: Data(payload.state)),
                activity: UInt64(batch.tokens[delivery.token.lowerBound]), time: time)
        }
    }

    /// The service answers everything that is on its way.
    func answer(_ outcome: DeliveryOutcome) {
        let completions = flying.map { Completion(slot: $0.slot, generation: $0.generation, outcome: outcome) }
        flying.removeAll()
        shard.complete(completions, at: moment)
    }

    /// Time passes, and every moment at which the shard wants to be asked is one.
    func pass(seconds: Double) -> [Push] {
        let end = moment.monotonic + .nanoseconds(Int64(seconds * 1e9))
        var all = pushes()
        while let due = shard.nextDue, due <= end {
            advance(to: max(due, moment.monotonic))
            all += pushes()
        }
        advance(to: end)
        return all + pushes()
    }

    /// Time passes, and nobody asks the shard.
    func advance(seconds: Int64) { advance(to: time + .seconds(seconds)) }

    var time: MonotonicTime { moment.monotonic }

    private func advance(to time: MonotonicTime) {
        moment.wallMilliseconds += (time - moment.monotonic).milliseconds
        moment.monotonic = time
    }
}
