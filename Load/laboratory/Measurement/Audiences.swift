import FanfareModel

/// The activities that publications of a measurement are for, by the schedule: those that follow a publication's topic at its planned moment,
/// without those whose tokens have died. Computed after the run, because a list of them all is kept nowhere.
struct Audiences {
    private struct Change {
        /// Nanoseconds from the schedule's start.
        var at: Int64
        var subscriber: Int
        var isJoining: Bool
    }

    private let population: Population
    /// Activities of each topic after the changes before `next`.
    private var sizes: [Int]
    private let changes: [Change]
    private var next = 0
    /// Subscribers who have left or whose tokens have died: one who does both goes once.
    private var gone: Set<Int> = []

    /// - Parameter deaths: moments in nanoseconds from the schedule's start at which activities' tokens died, by bits of the activities' ids.
    init(_ schedule: Schedule, _ population: Population, deaths: [UInt64: Int64] = [:]) {
        self.population = population
        sizes = population.followers()
        var changes: [Change] = schedule.arrivals.compactMap { arrival in
            switch arrival.action {
            case .follow(let subscriber):
                Change(at: arrival.planned, subscriber: Int(subscriber), isJoining: true)
            case .unfollow(let subscriber):
                Change(at: arrival.planned, subscriber: Int(subscriber), isJoining: false)
            case .event, .recorded, .rotate: nil
            }
        }
        if !deaths.isEmpty {
            for subscriber in 0..<population.initial + schedule.followsAt.count {
                guard let at = deaths[population.key(of: subscriber)] else { continue }
                changes.append(Change(at: at, subscriber: subscriber, isJoining: false))
            }
            changes.sort { $0.at < $1.at }
        }
        self.changes = changes
    }

    /// Returns the number of activities of a topic.
    ///
    /// - Parameter planned: nanoseconds from the schedule's start, not before those of the last call.
    mutating func size(of topic: Int, at planned: Int64) -> Int {
        while next < changes.count, changes[next].at < planned {
            let change = changes[next]
            next += 1
            guard change.isJoining || gone.insert(change.subscriber).inserted else { continue }
            for topic in population.followed(by: change.subscriber) { sizes[topic] += change.isJoining ? 1 : -1 }
        }
        return sizes[topic]
    }

    /// Returns the number of pairs of a measured publication and an activity that it is for, by the names of the series, of `all` and of the
    /// topic kinds; and the number of activities of each goal, by its number.
    ///
    /// - Parameter start: monotonic nanoseconds of the schedule's start.
    static func owed(
        _ schedule: Schedule, _ population: Population, _ meter: DecisionMeter, start: Int64
    ) -> (series: [String: Int], goals: [UInt8: Int]) {
        var audiences = Audiences(schedule, population, deaths: meter.deaths.mapValues { $0 - start })
        let serials = 0...min(meter.newest, UInt64(meter.table.capacity))
        let rows = serials.map { meter.table[$0] }.filter { $0.isMeasured && $0.topic < schedule.topics.count }
        var owed: [String: Int] = [:]
        var goals: [UInt8: Int] = [:]
        for row in rows.sorted(by: { $0.planned < $1.planned }) {
            let size = audiences.size(of: Int(row.topic), at: row.planned - start)
            guard size > 0 else { continue }
            if row.goal > 0 { goals[row.goal] = size }
            for name in [row.series.name, "all", "kind/\(meter.kinds[Int(row.kind)])"] {
                owed[name, default: 0] += size
            }
        }
        let follows = schedule.followsAt.indices.count { number in
            schedule.measured.contains(schedule.followsAt[number])
                && meter.deaths[population.key(of: population.initial + number)] == nil
        }
        if follows > 0 { owed[Series.follow.name] = follows }
        return (owed, goals)
    }
}
