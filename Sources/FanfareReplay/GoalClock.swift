import FanfareModel

/// Measures the time from each goal's ingestion until the last activity had it or something newer.
///
/// Goals are numbered from the feed's first. The clock keeps at most `goalsMax` goals and nothing about older ones.
struct GoalClock {
    private(set) var all: [ReplaySummary.Goal] = []
    /// Goals dropped to make room, all older than those in `all`.
    private(set) var leftOut = 0
    private let goalsMax: Int
    /// Time of each goal's ingestion; parallel to `all`.
    private var ingestedAt: [MonotonicTime] = []
    /// Goals that no publication carries yet, by topic: usually for a moment, and for as long as their topic is paused.
    private var unpublished: [TopicID: [Int]] = [:]
    /// Goals by the serial of the publication that carries them.
    private var published: [UInt64: [Int]] = [:]
    /// Goals whose publication is no longer tracked by itself: the completion of a newer publication of the topic finishes them.
    private var overtaken: [TopicID: [(serial: UInt64, goals: [Int])]] = [:]
    private var now = MonotonicTime.always

    init(goalsMax: Int = .max) { self.goalsMax = goalsMax }

    /// Notes when the next event to be decided came in.
    mutating func ingested(at moment: MonotonicTime) { now = moment }

    /// Notes that the latest event is a goal, which people are to see now or later.
    mutating func scored(in topic: TopicID) {
        if all.count >= goalsMax { leaveOut(max(1, goalsMax / 4)) }
        unpublished[topic, default: []].append(leftOut + all.count)
        all.append(ReplaySummary.Goal(topic: topic, version: 0, secondsToLast: nil))
        ingestedAt.append(now)
    }

    /// Moves the goals that the topic held back to the publication that carries them.
    mutating func carried(by publication: Publication) {
        guard !unpublished.isEmpty, let goals = unpublished.removeValue(forKey: publication.topicID) else { return }
        published[publication.serial] = goals
        for goal in goals where goal >= leftOut { all[goal - leftOut].version = publication.version }
    }

    /// Notes that shards got the publication and no longer track it by itself.
    mutating func overtaken(_ serial: UInt64, of topic: TopicID) {
        guard let goals = published.removeValue(forKey: serial) else { return }
        overtaken[topic, default: []].append((serial, goals))
    }

    /// - Parameter moment: time at which the last activity had the publication; `nil` if no activity was to get it.
    mutating func completed(_ serial: UInt64, of topic: TopicID, at moment: MonotonicTime?) {
        finish(published.removeValue(forKey: serial) ?? [], at: moment)
        // Without a moment nothing is known of older goals: an activity with a lineup may have nothing new
        // to see in this publication and still lack them.
        guard !overtaken.isEmpty, let moment, let older = overtaken[topic] else { return }
        for publication in older where publication.serial < serial { finish(publication.goals, at: moment) }
        let rest = older.filter { $0.serial > serial }
        overtaken[topic] = rest.isEmpty ? nil : rest
    }

    /// Finishes all overtaken goals at the time of the last accepted push. To be called when every activity has its newest state.
    mutating func settled(at moment: MonotonicTime) {
        for publication in overtaken.values.joined() { finish(publication.goals, at: moment) }
        overtaken = [:]
    }

    private mutating func finish(_ goals: [Int], at moment: MonotonicTime?) {
        for goal in goals where goal >= leftOut {
            let index = goal - leftOut
            all[index].isAwaited = moment != nil
            all[index].secondsToLast = moment.map { Double(max(0, $0.nanoseconds(since: ingestedAt[index]))) / 1e9 }
        }
    }

    /// Drops the oldest goals, and all entries that hold only dropped goals.
    private mutating func leaveOut(_ count: Int) {
        leftOut += count
        all.removeFirst(count)
        ingestedAt.removeFirst(count)
        let first = leftOut
        func isKept(_ goals: [Int]) -> Bool { goals.contains { $0 >= first } }
        unpublished = unpublished.filter { isKept($0.value) }
        published = published.filter { isKept($0.value) }
        overtaken = overtaken.mapValues { $0.filter { isKept($0.goals) } }.filter { !$0.value.isEmpty }
    }

    /// Number of entries kept, for tests.
    var remembered: Int { all.count + unpublished.count + published.count + overtaken.count }
}
