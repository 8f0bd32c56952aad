import FanfareCore

/// Times each goal from its ingestion to the last activity that got it, or something newer.
struct GoalClock {
    private(set) var all: [ReplaySummary.Goal] = []
    /// When each of them came in, monotonic nanoseconds.
    private var ingestedAt: [Int64] = []
    /// Goals that nothing published carries yet: usually for a moment, and while their topic is paused.
    private var held: [TopicID: [Int]] = [:]
    /// Goals by the publication that carries them.
    private var open: [UInt64: [Int]] = [:]
    private var now: Int64 = 0

    /// Monotonic nanoseconds at which the event that is decided next came in.
    mutating func ingested(at moment: Int64) { now = moment }

    /// The event that came in last is a goal, which people are to see now or later.
    mutating func scored(in topic: TopicID) {
        held[topic, default: []].append(all.count)
        all.append(ReplaySummary.Goal(topic: topic, version: 0, secondsToLast: nil))
        ingestedAt.append(now)
    }

    /// It carries all that its topic held back.
    mutating func carried(by publication: Publication) {
        guard !held.isEmpty, let goals = held.removeValue(forKey: publication.topicID) else { return }
        open[publication.serial] = goals
        for goal in goals { all[goal].version = publication.version }
    }

    /// - Parameter moment: when the last activity had it; `nil`: nobody was to get it.
    mutating func completed(_ serial: UInt64, at moment: Int64?) {
        for goal in open.removeValue(forKey: serial) ?? [] {
            all[goal].isAwaited = moment != nil
            all[goal].secondsToLast = moment.map { Double($0 - ingestedAt[goal]) / 1e9 }
        }
    }
}
