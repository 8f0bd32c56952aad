import FanfareDecisions
import FanfareModel

/// Judges ends by silence from outside: it knows which topics go on and when each was heard last. No topic may end by its silence before
/// the rules allow it, and none may go on for longer.
struct SilenceJudge {
    private struct Life {
        var heardAt: FeedTime
        var hasBegun: Bool
    }

    private var lives: [TopicID: Life] = [:]
    private let endsAfterSilence: Duration
    private let beginsWithin: Duration
    /// Longest delay of a shown change; silence is counted from the moment it is shown.
    private let minimumInterval: Duration

    init(_ rules: TopicRules) {
        (endsAfterSilence, beginsWithin) = (rules.lifetime.endsAfterSilence, rules.lifetime.beginsWithin)
        minimumInterval = rules.pace.minimumInterval
    }

    /// Notes an event. A match begins with its first period, or goes on where it was.
    mutating func heard(_ event: FeedEvent, at now: FeedTime) {
        guard event.lifecycle != .end else { return lives[event.topic] = nil }
        let hasBegun = lives[event.topic]?.hasBegun ?? false
        lives[event.topic] = Life(heardAt: now, hasBegun: hasBegun || event.kind == "period")
    }

    func isAwaited(_ topic: TopicID) -> Bool { lives[topic] != nil }

    /// Milliseconds since the topic was heard last; `nil` if it is over.
    func silence(of topic: TopicID, at now: FeedTime) -> Int64? {
        lives[topic].map { (now - $0.heardAt).milliseconds }
    }

    /// Judges the end of a topic whose feed has not ended it.
    mutating func lapsed(_ topic: TopicID, at now: FeedTime) -> String? {
        guard let life = lives.removeValue(forKey: topic) else { return "\(topic) ends twice" }
        guard now < life.heardAt + limit(of: life) else { return nil }
        return "\(topic) ends after \((now - life.heardAt).milliseconds) ms of silence, not \(limit(of: life)) (L1)"
    }

    func overdue(at now: FeedTime) -> String? {
        for (topic, life) in lives where life.heardAt + limit(of: life) + minimumInterval < now {
            return "\(topic) goes on after \((now - life.heardAt).milliseconds) ms of silence (L1)"
        }
        return nil
    }

    private func limit(of life: Life) -> Duration { life.hasBegun ? endsAfterSilence : beginsWithin }
}
