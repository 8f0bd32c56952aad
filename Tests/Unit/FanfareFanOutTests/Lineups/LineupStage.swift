import FanfareFanOut
import FanfareLineup
import FanfareModel
import FanfareTestSupport
import Foundation

/// One shard with an activity or two, time that is told to pass, and a network that takes everything at once.
final class LineupStage {
    private let embedded: EmbeddedShard
    var shard: Shard { embedded.shard }
    var moment: Moment { embedded.moment }
    private var scores: [String: Int64] = [:]
    private var extras: [String: Int64] = [:]
    /// Times for which topics are scheduled, as their next publications say.
    var schedule: [String: FeedTime] = [:]

    /// - Parameter lineups: alerts leave at once, where nothing else is said.
    init(lineups: LineupRules = LineupRules(gather: .zero)) { embedded = EmbeddedShard(Shard(lineups: lineups)) }

    struct Push {
        let payload: Payload
        let content: AnyLineup?
        /// The activity that gets the push.
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
        embedded.apply(
            .follow(
                ActivityID(activity), .lineup(topics.map { TopicID($0) }, favourite: favourite.map { TopicID($0) }),
                token: [UInt8(activity)], preferences: preferences))
    }

    func move(_ topics: [String], favourite: String? = nil, activity: UInt64 = 1) {
        embedded.apply(
            .move(ActivityID(activity), .lineup(topics.map { TopicID($0) }, favourite: favourite.map { TopicID($0) })))
    }

    /// A goal with its alert, which changes the row.
    func goal(_ topic: String) {
        scores[topic, default: 0] += 1
        publish(topic, priority: .immediate, alert: "goal \(scores[topic] ?? 0) in \(topic)", occasionWeight: 100)
    }

    /// Changes the topic's state, and not its row.
    func card(_ topic: String) {
        extras[topic, default: 0] += 1
        publish(topic, occasionWeight: 60)
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
        isCauseOfProvider: Bool = true, occasionWeight: Int? = nil, hasBegun: Bool = true,
        dismissAfter: Duration? = nil,
        fill: Int = 0
    ) {
        let score = scores[topic, default: 0]
        let alert = alert.map {
            Alert(
                cause: $0, isCauseOfProvider: isCauseOfProvider, class: .essential,
                text: AlertText(title: $0, body: "by somebody", sound: "default"), freshFor: .seconds(300),
                highlight: "score")
        }
        let state: JSONObject = [
            "score": .int(score), "extra": .int(extras[topic, default: 0]), "highlight": "score",
            "fill": .string(String(repeating: "-", count: fill)),
        ]
        embedded.publish(
            Publication.test(
                embedded.nextSerial(), of: TopicID(topic), event: event, state: state, priority: priority,
                alert: alert,
                prominence: Prominence(hasBegun: hasBegun, importance: 50, occasionWeight: occasionWeight),
                short: ShortForms(compactLeading: "\(score)", compactTrailing: "-", minimal: "\(score)"),
                dismissal: dismissAfter.map(DismissalTime.after), scheduledAt: schedule[topic]))
    }

    /// Due pushes, accepted by the service.
    func pushes() -> [Push] {
        let pushes = pull()
        answer(.accepted)
        return pushes
    }

    func revoke(_ cause: String, of topic: String) {
        embedded.apply(.revokeAlert(topic: TopicID(topic), cause: cause))
    }

    func forget(_ topic: String) { embedded.apply(.forget(TopicID(topic))) }

    func unfollow(activity: UInt64 = 1) { embedded.apply(.unfollow(ActivityID(activity))) }

    /// Due pushes, on their way to the service.
    func pull(limit: Int = 100) -> [Push] {
        embedded.pull(limit: limit).map {
            Push(
                payload: $0.payload,
                content: try? JSONDecoder().decode(AnyLineup.self, from: Data($0.payload.state)),
                activity: UInt64($0.token[0]), time: time)
        }
    }

    /// The service answers everything that is on its way.
    func answer(_ outcome: DeliveryOutcome) { embedded.answerAll(outcome) }

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

    private func advance(to time: MonotonicTime) { embedded.pass(time - moment.monotonic) }
}
