import FanfareModel

/// Contents of the record of an event or timer, collected step by step. Smaller than a `DecisionRecord`.
struct Verdict {
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
    init(of event: FeedEvent, in topic: TopicID, now: FeedTime, _ verdict: Verdict) {
        self.init(
            .event, topic: topic, at: event.at, now: now, id: event.id, seq: event.seq, kind: event.kind,
            outcome: verdict.outcome, occasion: verdict.occasion, version: verdict.version, causes: verdict.causes,
            reason: verdict.reason, alert: verdict.alert, alertReason: verdict.alertReason,
            alertCause: verdict.alertCause)
    }

    init(ofTimer name: String, in topic: TopicID, now: FeedTime, _ verdict: Verdict) {
        self.init(
            .timer, topic: topic, at: nil, now: now, id: nil, seq: nil, kind: name,
            outcome: verdict.outcome, occasion: verdict.occasion, version: verdict.version, causes: verdict.causes,
            reason: verdict.reason, alert: verdict.alert, alertReason: verdict.alertReason,
            alertCause: verdict.alertCause)
    }
}
