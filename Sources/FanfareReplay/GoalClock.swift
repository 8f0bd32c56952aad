import FanfareModel

/// Times each goal from its ingestion to the last activity that got it, or something newer.
///
/// Goals are numbered from the feed's first. No more of them are remembered than `goalsMax`, nor anything about others.
struct GoalClock {
    private(set) var all: [ReplaySummary.Goal] = []
    /// Those before them, which have made room.
    private(set) var leftOut = 0
    private let goalsMax: Int
    /// When each of them came in, monotonic nanoseconds.
    private var ingestedAt: [Int64] = []
    /// Goals that nothing published carries yet: usually for a moment, and while their topic is paused.
    private var held: [TopicID: [Int]] = [:]
    /// Goals by the publication that carries them.
    private var open: [UInt64: [Int]] = [:]
    /// Goals whose publication is not told apart any more: of their topic a newer one says when everybody has them.
    private var overtaken: [TopicID: [(serial: UInt64, goals: [Int])]] = [:]
    private var now: Int64 = 0

    init(goalsMax: Int = .max) { self.goalsMax = goalsMax }

    /// Monotonic nanoseconds at which the event that is decided next came in.
    mutating func ingested(at moment: Int64) { now = moment }

    /// The event that came in last is a goal, which people are to see now or later.
    mutating func scored(in topic: TopicID) {
        if all.count >= goalsMax { leaveOut(max(1, goalsMax / 4)) }
        held[topic, default: []].append(leftOut + all.count)
        all.append(ReplaySummary.Goal(topic: topic, version: 0, secondsToLast: nil))
        ingestedAt.append(now)
    }

    /// It carries all that its topic held back.
    mutating func carried(by publication: Publication) {
        guard !held.isEmpty, let goals = held.removeValue(forKey: publication.topicID) else { return }
        open[publication.serial] = goals
        for goal in goals where goal >= leftOut { all[goal - leftOut].version = publication.version }
    }

    /// It was told to shards, and is not told apart any more.
    mutating func overtaken(_ serial: UInt64, of topic: TopicID) {
        guard let goals = open.removeValue(forKey: serial) else { return }
        overtaken[topic, default: []].append((serial, goals))
    }

    /// - Parameter moment: when the last activity had it; `nil`: nobody was to get it.
    mutating func completed(_ serial: UInt64, of topic: TopicID, at moment: Int64?) {
        finish(open.removeValue(forKey: serial) ?? [], at: moment)
        // Who has one of its lineups may have nothing new to see, and still lack the goal.
        guard !overtaken.isEmpty, let moment, let older = overtaken[topic] else { return }
        for publication in older where publication.serial < serial { finish(publication.goals, at: moment) }
        let rest = older.filter { $0.serial > serial }
        overtaken[topic] = rest.isEmpty ? nil : rest
    }

    /// Everybody has everything, with the push that was accepted last.
    mutating func settled(at moment: Int64) {
        for publication in overtaken.values.joined() { finish(publication.goals, at: moment) }
        overtaken = [:]
    }

    private mutating func finish(_ goals: [Int], at moment: Int64?) {
        for goal in goals where goal >= leftOut {
            let index = goal - leftOut
            all[index].isAwaited = moment != nil
            all[index].secondsToLast = moment.map { Double(max(0, $0 - ingestedAt[index])) / 1e9 }
        }
    }

    /// Makes room. What waits only for goals that are left out waits for nothing.
    private mutating func leaveOut(_ count: Int) {
        leftOut += count
        all.removeFirst(count)
        ingestedAt.removeFirst(count)
        let first = leftOut
        func isKept(_ goals: [Int]) -> Bool { goals.contains { $0 >= first } }
        held = held.filter { isKept($0.value) }
        open = open.filter { isKept($0.value) }
        overtaken = overtaken.mapValues { $0.filter { isKept($0.goals) } }.filter { !$0.value.isEmpty }
    }

    /// Everything that is remembered, for tests.
    var remembered: Int { all.count + held.count + open.count + overtaken.count }
}
