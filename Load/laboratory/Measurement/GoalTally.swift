package import FanfareModel

/// A goal whose spread is measured.
package struct TrackedGoal {
    package var serial: UInt64
    package var topic: TopicID
    package var planned: Int64
    package var last: Int64?
}

/// The goals of a measurement, as far as the core sees them.
package struct GoalTally {
    /// Goals whose spread is measured: the first ones.
    package private(set) var tracked: [TrackedGoal] = []
    /// Goals of the measurement that had not reached all of their activities at its end.
    package private(set) var unfinished = 0
    /// Goals of the schedule that the core has taken and decided.
    package private(set) var taken = 0
    /// Is `true` where the second goal of a topic is no news: an order arrives once.
    package var mayRepeat = false

    /// Tracks a goal, unless there are enough.
    ///
    /// - Returns: the goal's number, from 1; `nil` if it is not tracked.
    mutating func track(_ serial: UInt64, of topic: TopicID, planned: Int64) -> Int? {
        guard tracked.count < PublicationTable.goalsMax else { return nil }
        tracked.append(TrackedGoal(serial: serial, topic: topic, planned: planned))
        return tracked.count
    }

    /// Notes the decision about a goal of the schedule.
    mutating func noteTaken(_ outcome: Outcome) {
        if [.published, .conflated].contains(outcome) || outcome == .unchanged && mayRepeat { taken += 1 }
    }

    /// Notes the moment at which a tracked goal has reached all of its activities.
    mutating func noteLast(_ moment: Int64, of number: Int) { tracked[number - 1].last = moment }

    mutating func noteUnfinished() { unfinished += 1 }
}
