package import FanfareModel

/// Bounds of an event, whatever its topic and the rules of its kind: its time, the sizes of its names, and its nesting.
struct EventBounds {
    private let limits: Rules.Limits

    /// Maximum nesting of arrays and objects, equal to that of the feed readers.
    private static let depthMax = 64

    init(_ limits: Rules.Limits) { self.limits = limits }

    /// Returns the reason for which the event is refused, with the topic that its record names; `nil` if the event is acceptable.
    func fault(of event: FeedEvent) -> (reason: String, topic: TopicID?)? {
        let bytes = event.topic.rawValue.utf8.count
        guard bytes > 0, bytes <= limits.topicIDSizeMax.bytes else {
            return ("a topic's id has 1 to \(limits.topicIDSizeMax), not \(bytes)", nil)
        }
        guard event.at.isPlausible else { return (implausible(event.at), event.topic) }
        if let id = event.id, id.utf8.count > limits.idSizeMax.bytes {
            return ("an event's id has at most \(limits.idSizeMax), not \(id.utf8.count)", event.topic)
        }
        let kindBytes = max(event.kind.utf8.count, event.topicKind?.rawValue.utf8.count ?? 0)
        guard kindBytes <= limits.idSizeMax.bytes else {
            return ("a kind has at most \(limits.idSizeMax), not \(kindBytes)", event.topic)
        }
        guard event.isNested(within: EventBounds.depthMax) else {
            return ("its values are nested more than \(EventBounds.depthMax) deep", event.topic)
        }
        return nil
    }

    /// Returns the record of a refused event, without names that are too long.
    ///
    /// - Parameter topic: the topic that the record names; `nil` if its id is out of bounds.
    func refusal(of event: FeedEvent, _ reason: String, topic: TopicID?, now: FeedTime) -> DecisionRecord {
        let id = event.id.flatMap { $0.utf8.count <= limits.idSizeMax.bytes ? $0 : nil }
        let kind = event.kind.utf8.count <= limits.idSizeMax.bytes ? event.kind : "unreadable"
        return DecisionRecord(
            origin: .event, topic: topic, at: event.at.isPlausible ? event.at : nil, now: now, id: id,
            seq: event.seq, kind: kind, outcome: .rejected, reason: reason)
    }
}

extension FeedEvent {
    /// Returns `true` if the event's arrays and objects are nested no deeper.
    package func isNested(within depth: Int) -> Bool {
        switch change {
        case .nothing, .retraction, .operation: true
        case .patch(let object), .contentState(let object): object.isNested(within: depth)
        case .fact(let fact): fact.values.isNested(within: depth)
        }
    }
}
