import FanfareModel
import FanfareQueues

/// A shard's figures of freshness since its start, by kind of topic.
///
/// A kind has an index, which is looked up once per publication. Feeds choose the kinds' names, so kinds beyond the first 16 are
/// counted together. Spans of time are in nanoseconds.
struct FreshnessTable {
    private var kinds: [(kind: TopicKind, figures: Freshness)] = []
    private var lineups: Int?
    /// The time at which the last push was accepted; `nil` before the first.
    private var lastAccepted: MonotonicTime?

    mutating func index(of kind: TopicKind) -> Int {
        if let known = kinds.firstIndex(where: { $0.kind == kind }) { return known }
        guard kinds.count < Freshness.kindsMax || kind == .other else { return index(of: .other) }
        kinds.append((kind, Freshness()))
        return kinds.count - 1
    }

    mutating func indexOfLineups() -> Int {
        if let lineups { return lineups }
        let index = index(of: .lineup)
        lineups = index
        return index
    }

    // MARK: Events

    mutating func noteAccepted(at now: MonotonicTime) { lastAccepted = now }

    /// Records the delay of a sweep's first push.
    mutating func noteLaneDelay(_ delay: Int64, lane: Int, of index: Int) {
        kinds[index].figures.laneDelay[lane].record(delay)
    }

    /// Records pushes that leave with a state of this age.
    mutating func noteStateAge(_ age: Int64, times: Int, of index: Int) {
        kinds[index].figures.stateAge.record(age, times: times)
    }

    /// Records the duration of a publication that is complete and that a member lacked.
    mutating func noteSweep(_ took: Int64, of index: Int) { kinds[index].figures.sweep.record(took) }

    // MARK: The report

    /// - Parameter oldestArrival: arrival of the oldest publication that a member lacks.
    func report(oldestArrival: MonotonicTime?, at now: MonotonicTime) -> FreshnessReport {
        var report = FreshnessReport()
        report.lastAccepted = lastAccepted
        for (kind, figures) in kinds { report.kinds[kind] = figures }
        report.oldestUndelivered = oldestArrival.map { max(.zero, now - $0) } ?? .zero
        return report
    }

    func violation() -> String? {
        guard Set(kinds.map(\.kind)).count == kinds.count else { return "a kind has two sets of figures" }
        guard kinds.count <= Freshness.kindsMax + 1 else { return "\(kinds.count) kinds are told apart" }
        return nil
    }
}
