/// What became of an event or a timer.
public enum Outcome: String, Sendable, CaseIterable {
    /// A new version went to the fan-out.
    case published
    /// Nothing people can see changed.
    case unchanged
    /// Visible, but held back until the topic's minimum interval has passed; a later record publishes it.
    case conflated
    /// Arrived after something newer of its topic and changed nothing that can still be shown.
    case late
    /// The topic has had this event, fact, number or retraction already. Nothing changes.
    case duplicate
    /// A fact that was withdrawn before it arrived.
    case retracted
    /// The event could not be taken; `DecisionRecord.reason` says why. Nothing changes.
    case rejected
}

/// What the topic's rules said to an alert that was asked for. What one subscriber's settings make of it is the fan-out's.
public enum AlertVerdict: String, Sendable { case granted, demoted }

/// One line of the decision log: every event has one, and so does every timer that acted.
public struct DecisionRecord: Sendable, Equatable {
    /// What made the core decide: an event that came in, or a timer that acted.
    public enum Origin: String, Sendable { case event, timer }

    /// An event that came in, or a timer that acted.
    public var origin: Origin
    /// `nil` for an input that could not be read far enough to know its topic.
    public var topic: TopicID?
    /// Event time; `nil` for a timer, and for an input whose time could not be read.
    public var at: FeedTime?
    /// Log time of the decision; it never goes back from one record to the next.
    public var now: FeedTime
    /// The event's id, as the provider gave it.
    public var id: String?
    /// The event's number, where the feed numbers its patches.
    public var seq: UInt64?
    /// The event's kind, or the timer's name.
    public var kind: String
    /// What became of it.
    public var outcome: Outcome
    /// What the event amounts to under the topic's rules. Not part of the log.
    public var occasion: OccasionKind?
    /// Present when published.
    public var version: UInt32?
    /// Ids (or kinds, where events have no id) of the events whose changes this version carries.
    public var causes: [String]
    /// For people: why it was, or was not, sent.
    public var reason: String
    /// What the rules said to the alert; `nil` where none was asked for.
    public var alert: AlertVerdict?
    /// The kind of occasion for which the alert was granted, or in a few words why it was demoted; `nil` where none was
    /// asked for.
    public var alertReason: String?
    /// What the granted alert tells of: the id of the fact that caused it, else of the event, else the event's kind and the version, as
    /// `state/7`; with `/cancelled` behind it for a withdrawal. `nil` where none was granted. `Engine.alertDisposition` takes it. Not part
    /// of the log.
    public var alertCause: String?
}

extension DecisionRecord {
    /// For programs that make up records, as tests do; what is left out is set afterwards.
    public init(origin: Origin, topic: TopicID?, now: FeedTime, kind: String, outcome: Outcome, reason: String) {
        self.init(origin: origin, topic: topic, at: nil, now: now, kind: kind, outcome: outcome, reason: reason)
    }
}

// In an extension, so that the compiler's own initialiser is left: one that sets member by member copies a record once more.
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

    /// It tells that its topic is remembered no longer.
    package var forgets: Bool { origin == .timer && kind == DecisionRecord.forget }
    package static let forget = "forget"

    /// All there is to say: what `FanfareDecisions` makes of a verdict.
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

/// What the decision core says, in order: the log's records, and what the fan-out is to do. A publication stands before
/// the record that tells of it.
package enum Decision: Sendable {
    case record(DecisionRecord)
    case publish(Publication)
    /// The fact behind this alert was withdrawn: the alert rides no more.
    case revokeAlert(topic: TopicID, cause: String)
    /// The topic is remembered no longer: nothing follows of it, unless its id comes again as a new topic's.
    case forget(TopicID)
    /// An operator's order that is about the people of one app only: the topics go on.
    case order(FeedEvent.Operation, AppID)
}
