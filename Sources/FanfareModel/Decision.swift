/// Outcome of an event or a timer.
public enum Outcome: String, Sendable, CaseIterable {
    /// A new version went to the fan-out.
    case published
    /// Nothing visible changed.
    case unchanged
    /// A visible change waits until the topic's minimum interval has passed; a later record publishes it.
    case conflated
    /// The event arrived after a newer one of its topic and changed nothing that can still be shown.
    case late
    /// The topic already has this event, fact, number or retraction. Nothing changes.
    case duplicate
    /// The fact was withdrawn before it arrived.
    case retracted
    /// The core could not take the event; `DecisionRecord.reason` states the cause. Nothing changes.
    case rejected
}

/// Answer of the topic's rules to a requested alert. The fan-out applies each subscriber's settings later.
public enum AlertVerdict: String, Sendable { case granted, demoted }

/// One line of the decision log. Every event has one, and every timer that acted.
public struct DecisionRecord: Sendable, Equatable {
    /// Origin of a decision: an event that arrived, or a timer that acted.
    public enum Origin: String, Sendable { case event, timer }

    /// Origin of the decision: an event that arrived, or a timer that acted.
    public var origin: Origin
    /// Topic of the event or timer; `nil` for an input without a valid one.
    public var topic: TopicID?
    /// Event time; `nil` for a timer, and for an input without a plausible time.
    public var at: FeedTime?
    /// Log time of the decision; never goes back from one record to the next.
    public var now: FeedTime
    /// Id of the event, as the provider gave it.
    public var id: String?
    /// Number of the event, if the feed numbers its patches.
    public var seq: UInt64?
    /// Kind of the event, or name of the timer.
    public var kind: String
    /// Outcome of the event or timer.
    public var outcome: Outcome
    /// Occasion that the event is under the topic's rules. Not part of the log.
    public var occasion: OccasionKind?
    /// Version that was published; otherwise `nil`.
    public var version: UInt32?
    /// Ids of the events whose changes this version carries; the kind of an event that has no id.
    public var causes: [String]
    /// Reason for the outcome, for people.
    public var reason: String
    /// Answer of the rules to the alert; `nil` if none was requested.
    public var alert: AlertVerdict?
    /// Kind of the occasion for which the alert was granted, or the reason why it was demoted; `nil` if none was requested.
    public var alertReason: String?
    /// Cause of the granted alert, as `Engine.alertDisposition` expects it; `nil` if no alert was granted. It is the id of the fact that
    /// caused the alert, else the event's id, else the event's kind and the version, such as `state/7`; a withdrawal appends `/cancelled`.
    /// Not part of the log.
    public var alertCause: String?
}

extension DecisionRecord {
    /// Creates a record for a program's tests; the engine creates its own. A test sets all other properties afterwards.
    public init(origin: Origin, topic: TopicID?, now: FeedTime, kind: String, outcome: Outcome, reason: String) {
        self.init(origin: origin, topic: topic, at: nil, now: now, kind: kind, outcome: outcome, reason: reason)
    }
}

// In an extension, so that the memberwise initialiser remains: an explicit one would copy a record once more.
extension DecisionRecord {
    @usableFromInline package init(
        origin: Origin, topic: TopicID?, at: FeedTime?, now: FeedTime, id: String? = nil, seq: UInt64? = nil,
        kind: String, outcome: Outcome, version: UInt32? = nil, causes: [String] = [], reason: String,
        alert: AlertVerdict? = nil, alertReason: String? = nil
    ) {
        self.init(
            origin: origin, topic: topic, at: at, now: now, id: id, seq: seq, kind: kind, outcome: outcome,
            occasion: nil, version: version, causes: causes, reason: reason, alert: alert, alertReason: alertReason,
            alertCause: nil)
    }

    /// Is `true` for the record that says that the core has forgotten the topic.
    package var forgets: Bool { origin == .timer && kind == DecisionRecord.forget }
    package static let forget = "forget"

    /// Creates a record with every member, as `FanfareDecisions` makes it.
    @usableFromInline package init(
        _ origin: Origin, topic: TopicID, at: FeedTime?, now: FeedTime, id: String?, seq: UInt64?, kind: String,
        outcome: Outcome, occasion: OccasionKind?, version: UInt32?, causes: [String], reason: String,
        alert: AlertVerdict?, alertReason: String?, alertCause: String?
    ) {
        self.init(
            origin: origin, topic: topic, at: at, now: now, id: id, seq: seq, kind: kind, outcome: outcome,
            occasion: occasion, version: version, causes: causes, reason: reason, alert: alert,
            alertReason: alertReason, alertCause: alertCause)
    }
}

/// Output of the decision core, in order: records of the log, and orders to the fan-out. A publication precedes its record.
package enum Decision: Sendable {
    case record(DecisionRecord)
    case publish(Publication)
    /// Revokes the alert whose fact was withdrawn: it rides no more.
    case revokeAlert(topic: TopicID, cause: String)
    /// Forgets the topic. Nothing follows under its id, unless a new topic has the same one.
    case forget(TopicID)
    /// An operator's order for one app's subscribers only; the topics continue.
    case order(FeedEvent.Operation, AppID)
}
