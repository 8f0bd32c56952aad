import Fanfare
import FanfareFeeds
import FanfareLoop
import FanfareModel

/// Passes subscribers on to a replay and notes those whose topics the feed does not have: a mistyped
/// id looks like a match in which nothing happens.
final class StrangeTopics: SubscriberSource {
    private let base: any SubscriberSource
    private let known: Set<TopicID>
    private let found = Locked((activities: 0, examples: [TopicID]()))
    private static let examplesMax = 3

    /// - Parameter known: all topics of the feed.
    init(_ base: any SubscriberSource, known: Set<TopicID>) {
        self.base = base
        self.known = known
    }

    var expectedCount: Int { base.expectedCount }

    func read(_ take: (Subscription) -> String?) throws {
        var activities = 0
        var examples: [TopicID] = []
        try base.read { subscription in
            var isStrange = false
            for topic in subscription.audience.topics where !known.contains(topic) {
                isStrange = true
                if examples.count < StrangeTopics.examplesMax, !examples.contains(topic) { examples.append(topic) }
            }
            activities += isStrange ? 1 : 0
            return take(subscription)
        }
        found.withLock { $0 = (activities, examples) }
    }

    /// One line for people after all subscribers were read; `nil` if each topic is in the feed.
    var notice: String? {
        let (activities, examples) = found.withLock(\.self)
        guard activities > 0 else { return nil }
        let who = activities == 1 ? "1 activity follows" : "\(activities) activities follow"
        return "\(who) topics that the feed does not speak of: \(examples.map(\.rawValue).joined(separator: ", "))"
    }
}
