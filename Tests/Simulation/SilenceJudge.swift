import FanfareDecisions
import FanfareModel

/// What is known of silence from outside: which topics go on, and when each was heard last. No topic ends by its silence before the
/// rules allow it, and none goes on for longer.
struct SilenceJudge {
    private struct Life {
        var heardAt: FeedTime
        var hasBegun: Bool
    }

    private var lives: [TopicID: Life] = [:]
    private let endsAfterSilence: Duration
    private let beginsWithin: Duration
    /// What has happened last may wait for so long until it is shown, and silence is counted from there.
    private let minimumInterval: Duration

    init(_ rules: TopicRules) {
        (endsAfterSilence, beginsWithin) = (rules.endsAfterSilence, rules.beginsWithin)
        minimumInterval = rules.minimumInterval
    }

    /// A match begins with its first period, or goes on where it was.
    mutating func heard(_ event: FeedEvent, at now: FeedTime) {
        guard event.lifecycle != .end else { return lives[event.topic] = nil }
        let hasBegun = lives[event.topic]?.hasBegun ?? false
        lives[event.topic] = Life(heardAt: now, hasBegun: hasBegun || event.kind == "period")
    }

    func isAwaited(_ topic: TopicID) -> Bool { lives[topic] != nil }

    /// Milliseconds since it was heard last; `nil`: it is over.
    func silence(of topic: TopicID, at now: FeedTime) -> Int64? {
        lives[topic].map { (now - $0.heardAt).milliseconds }
    }

    /// A topic has ended, and its feed has not said so.
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
