public import FanfareCore
public import FanfareFeeds

/// Where the activities come from that are on phones when an engine starts: `SubscriberFile`, or `SubscriberSequence` for what a
/// program has itself.
public protocol SubscriberSource: Sendable {
    /// About how many there are, to make room.
    var expectedCount: Int { get }

    /// Hands out all of them. Called for one shard after the other, on the shard's thread, which takes its own: the same ones each
    /// time. Nothing is kept but what the shards keep.
    ///
    /// - Parameter take: says what is wrong with a subscription, if anything; it is then passed over.
    func read(_ take: (Subscription) -> String?) throws
}

extension SubscriberFile: SubscriberSource {}

/// Subscriptions made one by one by a sequence that can be gone through again.
public struct SubscriberSequence<Base: Sequence & Sendable>: SubscriberSource where Base.Element == Subscription {
    public let expectedCount: Int
    private let base: Base

    public init(_ base: Base, expectedCount: Int) {
        self.base = base
        self.expectedCount = expectedCount
    }

    public func read(_ take: (Subscription) -> String?) { for subscription in base { _ = take(subscription) } }
}

extension SubscriberSource {
    /// Fills the shard with those that are its own.
    ///
    /// - Parameter apps: those that are pushed to; empty where nothing is sent, which is all the same to everybody.
    func load(into shard: Shard, at place: ShardPlace, apps: [AppID]) throws {
        // Room for a sixteenth more than its share. Of the other apps nobody knows how many theirs are.
        if place.app == 0 {
            let share = max(0, min(expectedCount, Int(UInt32.max))) / place.count
            shard.reserve(activities: share + share / 16 + 16)
        }
        let moment = Moment.now()
        try read { subscription in
            var app = 0
            if let id = subscription.app, !apps.isEmpty {
                guard let known = apps.firstIndex(of: id) else { return "\(id): no app that is pushed to" }
                app = known
            }
            var age = Duration.zero
            if let startedAt = subscription.startedAt {
                let now = FeedTime(milliseconds: moment.wallMilliseconds)
                guard let known = Engine.age(of: startedAt, now: now) else {
                    return "\(startedAt): no activity can have started then"
                }
                age = known
            }
            guard app == place.app, place.owns(subscriber: subscription.subscriber) else { return nil }
            shard.apply(
                .follow(
                    subscription.activity, subscription.audience, token: subscription.token,
                    preferences: subscription.preferences, age: age), at: moment)
            return nil
        }
    }
}
