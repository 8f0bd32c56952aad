import FanfareCore

/// Times each goal from its ingestion to the last activity that got it, or something newer.
struct GoalClock {
    private var goals: [ReplaySummary.Goal] = []
    private var open: [UInt64: (goal: Int, ingestedAt: Int64)] = [:]
    private var ingestedAt: Int64 = 0

    var all: [ReplaySummary.Goal] { goals }

    /// Monotonic nanoseconds at which the event that is decided next came in.
    mutating func ingested(at moment: Int64) { ingestedAt = moment }

    mutating func scored(_ publication: Publication) {
        open[publication.serial] = (goals.count, ingestedAt)
        goals.append(
            ReplaySummary.Goal(topic: publication.topicID, version: publication.version, secondsToLast: nil))
    }

    mutating func completed(_ serial: UInt64, at moment: Int64) {
        guard let (goal, ingestedAt) = open.removeValue(forKey: serial) else { return }
        goals[goal].secondsToLast = Double(moment - ingestedAt) / 1e9
    }
}
