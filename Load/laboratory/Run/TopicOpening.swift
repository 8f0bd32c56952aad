import FanfareFanOut
import FanfareModel

/// The beginning of a run's topics, some of them in each turn.
struct TopicOpening {
    private(set) var script: FeedScript
    /// Topics to be begun; a recording begins its topics by itself.
    private let topics: Int
    private var opened = 0
    /// Accepted pushes at their last change, and the moment of that.
    private var answered = (count: -1, at: Int64(0))

    private static let topicsPerTurn = 128

    init(_ plan: RunPlan) {
        script = FeedScript(plan.scenario.feed.kind, topics: plan.schedule.topics)
        topics = plan.schedule.recorded.isEmpty ? plan.schedule.topics.count : 0
    }

    /// Is `true` after so many topics that other callbacks must have their turn.
    var isTurnOver: Bool { opened % TopicOpening.topicsPerTurn == 0 }

    /// Returns the events of the next topic; `nil` when all have begun.
    mutating func next(at now: FeedTime) -> [FeedEvent]? {
        guard opened < topics else { return nil }
        defer { opened += 1 }
        return script.opening(of: opened, at: now)
    }

    /// Is `true` when nothing has been accepted for three seconds: some activities are answered with errors for good, and the opening
    /// does not end by itself.
    mutating func isStalled(_ pushes: PushCounts, at now: Int64) -> Bool {
        guard pushes.accepted == answered.count else {
            answered = (pushes.accepted, now)
            return false
        }
        return now - answered.at > 3_000_000_000
    }
}
