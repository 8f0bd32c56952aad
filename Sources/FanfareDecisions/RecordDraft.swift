import FanfareModel

/// Contents of the record of an event or timer, collected step by step. Smaller than a `DecisionRecord`.
struct RecordDraft {
    var outcome = Outcome.unchanged
    var reason: String
    var occasion: OccasionKind?
    var version: UInt32?
    var causes: [String] = []
    var alert: AlertVerdict?
    var alertReason: String?
    var alertCause: String?

    mutating func set(_ outcome: Outcome, _ reason: String) {
        self.outcome = outcome
        self.reason = reason
    }
}

extension DecisionRecord {
    init(of event: FeedEvent, in topic: TopicID, now: FeedTime, _ draft: RecordDraft) {
        self.init(
            .event, topic: topic, at: event.at, now: now, id: event.id, seq: event.seq, kind: event.kind,
            outcome: draft.outcome, occasion: draft.occasion, version: draft.version, causes: draft.causes,
            reason: draft.reason, alert: draft.alert, alertReason: draft.alertReason,
            alertCause: draft.alertCause)
    }

    init(ofTimer name: String, in topic: TopicID, now: FeedTime, _ draft: RecordDraft) {
        self.init(
            .timer, topic: topic, at: nil, now: now, id: nil, seq: nil, kind: name,
            outcome: draft.outcome, occasion: draft.occasion, version: draft.version, causes: draft.causes,
            reason: draft.reason, alert: draft.alert, alertReason: draft.alertReason,
            alertCause: draft.alertCause)
    }
}
