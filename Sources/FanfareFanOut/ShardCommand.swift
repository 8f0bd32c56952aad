package import FanfareModel

/// What the core tells a shard, in order. Publications are what there may be a million of in a second: what would make room for more
/// than they need in each place of the ring is in a box of its own.
package enum ShardCommand: Sendable {
    case publish(Publication)
    /// The alert caused by this fact of this topic rides no more.
    indirect case revokeAlert(topic: TopicID, cause: String)
    /// The topic ended long ago, or its feed fell silent: nothing follows of it, unless its id comes again as a new topic's.
    case forget(TopicID)
    /// Every topic's newest state goes out once more, silently; what has ended does not.
    case republish
    /// The activity exists on a phone, has this update token, and shows this audience's state from now on. For one already
    /// known, a move and, if it differs, a new token; without preferences it keeps those it has, and its age is known already.
    indirect case follow(
        ActivityID, AudienceKey, token: [UInt8], preferences: Preferences? = nil, age: Duration = .zero)
    /// The activity is to appear on a phone by a push, and shows this audience's state from now on.
    indirect case start(StartRequest, AudienceKey)
    indirect case prefer(ActivityID, Preferences)
    /// A known activity shows another audience's state from now on. One that has gone meanwhile stays gone.
    indirect case move(ActivityID, AudienceKey)
    /// One private end, dismissed at once, and the activity is gone.
    case unfollow(ActivityID)
    case replaceToken(ActivityID, token: [UInt8])
    /// Asks for a `disposition` with the same number: of the alert with this cause.
    indirect case tellDisposition(UInt64, ActivityID, TopicID, cause: String)
    /// So many tokens were answered as dead that their activities are kept; but they did die, and may be removed.
    case trustDeadAnswers
    /// Asks for a `quiet` with the same number once everybody has everything sent so far, or something newer, or was refused it for
    /// good. Numbers count up.
    case reportQuiet(UInt64)
}

/// What a shard tells the core: facts for people and the store. They never change a decision. As with commands, what is rare and large
/// is in a box.
package enum ShardFeedback: Sendable {
    /// Everybody in this shard who was to get this publication has it, or a newer one. Monotonic nanoseconds; `nil`: nobody lacked it.
    case completed(serial: UInt64, at: Int64?)
    /// So many newer versions have followed that when this publication is completed is not told apart any more: those who lack
    /// it get a newer one, whose completion says so.
    case overtaken(serial: UInt64)
    /// Reported once; the activity is gone.
    case deadToken(ActivityID)
    case fate(ActivityID, ActivityFate)
    indirect case disposition(UInt64, AlertDisposition)
    /// The answer to this question and to all before it; complete: nobody was refused anything.
    case quiet(UInt64, isComplete: Bool)
    indirect case counted(ShardCounts)
    indirect case fresh(FreshnessReport)
    /// The transport can deliver; told once.
    case ready
    /// A line for operators.
    indirect case report(String)
}

/// Pushes and alerts, counted since the start. What `Engine.counts` answers is the sum over all shards and apps.
public struct ShardCounts: Sendable, Equatable {
    /// Requests to APNs by what came of them; a push that is sent again counts again.
    public struct Pushes: Sendable, Equatable {
        /// Handed to the transport.
        public var sent = 0
        /// Answered with 200. APNs does not tell whether a phone has shown it.
        public var accepted = 0
        /// Answered as dead, and the activity is gone.
        public var dead = 0
        /// Answered as dead while too many were; their activities are kept and get the newest state later.
        public var held = 0
        /// Put off by the service, as with 429; the activity gets the newest state later.
        public var throttled = 0
        /// Refused for good, a bug of ours; the activity lacks what they carried until it gets something newer.
        public var failed = 0
        /// Sent without ever being answered; the state was sent again, its alert was not.
        public var uncertain = 0
        /// Certainly not processed, and sent again.
        public var notProcessed = 0
        /// Sent at priority 5 although their topics asked for 10: the activity's budget was spent.
        public var conserved = 0

        /// Nothing counted yet.
        public init() {}
    }

    /// Each alert and activity is counted once, when the push that settled it came back.
    public struct Alerts: Sendable, Equatable {
        /// Taken by the service with the push that carried them.
        public var accepted = 0
        /// A newer alert of the same or a higher class went instead, or has taken its place among those that are kept.
        public var superseded = 0
        /// Their cause was withdrawn before they left.
        public var revoked = 0
        /// Older than their rule's `freshFor` when the activity's turn came.
        public var stale = 0
        /// Sent without ever being answered; not sent again.
        public var uncertain = 0
        /// Its push was refused for good.
        public var refused = 0
        /// The update went silently, as the person's mask or quiet hours say.
        public var silenced = 0
        /// The update went silently, because the activity's limits were reached.
        public var limited = 0

        /// Nothing counted yet.
        public init() {}
    }

    /// Requests by what came of them.
    public var pushes = Pushes()
    /// Alerts by what came of them.
    public var alerts = Alerts()
    /// Activities known now.
    public var activities = 0
    /// Activities of them without an update token: started by a push, or to be, and not reported yet.
    public var tokenless = 0
    /// Activities of them that lack something which is to be sent.
    public var owed = 0
    /// Activities that were refused the newest state for good: they show an older one until something newer comes.
    public var refused = 0
    /// Of the shard's transport, where it has connections.
    public var transport = TransportFigures()

    /// Nothing counted yet.
    public init() {}

    package static func + (a: ShardCounts, b: ShardCounts) -> ShardCounts {
        var sum = a
        sum.transport += b.transport
        sum.pushes.sent += b.pushes.sent
        sum.pushes.accepted += b.pushes.accepted
        sum.pushes.dead += b.pushes.dead
        sum.pushes.held += b.pushes.held
        sum.pushes.throttled += b.pushes.throttled
        sum.pushes.failed += b.pushes.failed
        sum.pushes.uncertain += b.pushes.uncertain
        sum.pushes.notProcessed += b.pushes.notProcessed
        sum.pushes.conserved += b.pushes.conserved
        sum.alerts.accepted += b.alerts.accepted
        sum.alerts.superseded += b.alerts.superseded
        sum.alerts.revoked += b.alerts.revoked
        sum.alerts.stale += b.alerts.stale
        sum.alerts.uncertain += b.alerts.uncertain
        sum.alerts.refused += b.alerts.refused
        sum.alerts.silenced += b.alerts.silenced
        sum.alerts.limited += b.alerts.limited
        sum.activities += b.activities
        sum.tokenless += b.tokenless
        sum.owed += b.owed
        sum.refused += b.refused
        return sum
    }
}
