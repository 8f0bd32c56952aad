import FanfareDecisions
import FanfareFeeds
import FanfareModel
import Testing

/// A whole feed, decoded and decided.
struct Replay {
    private(set) var events: [FeedEvent] = []
    private(set) var rejections: [FeedRejection] = []
    private(set) var decisions: [Decision] = []
    private(set) var core = DecisionCore(isLive: false)

    /// - Parameter observe: called after each event with its topic as it stands then.
    init(
        _ paths: [String], options: FeedOptions = FeedOptions(),
        observe: (FeedEvent, TopicView) throws -> Void = { _, _ in }
    ) throws {
        let feed = try Feed(paths: paths, options: options)
        while let (now, item) = feed.next() {
            switch item {
            case .event(let event):
                events.append(event)
                core.apply(event, now: now, into: &decisions)
                if let topic = core.topic(event.topic) { try observe(event, topic) }
            case .rejected(let rejection):
                rejections.append(rejection)
                core.reject(rejection, now: now, into: &decisions)
            case .noticed: break
            }
        }
        core.finish(into: &decisions)
    }

    var records: [DecisionRecord] {
        decisions.compactMap { if case .record(let record) = $0 { record } else { nil } }
    }

    func topic(_ id: String) throws -> TopicView {
        try #require(core.topic(TopicID(id)), "no topic \(id)")
    }

    /// The record of an event and the state it published.
    func publication(of id: String, in topic: String) throws -> (record: DecisionRecord, publication: Publication?) {
        var last: Publication?
        for decision in decisions {
            switch decision {
            case .publish(let publication): last = publication
            case .record(let record):
                if record.topic?.rawValue == topic, record.id == id { return (record, last) }
                last = nil
            case .revokeAlert, .forget, .order: break
            }
        }
        throw NoRecord(id: id, topic: topic)
    }

    struct NoRecord: Error {
        let id: String
        let topic: String
    }
}
