import FanfareLoop

/// Everything that a probe has measured. Readings of several shards are merged.
package struct ProbeReading: Sendable {
    /// Figures of one second.
    package struct Interval: Sendable {
        package var sent = 0
        package var accepted = 0
        /// Bytes of bodies, or of content states into a sink.
        package var bytes = 0
        /// Times of the pushes that left or were accepted in this second.
        package var stages = StageHistograms()
        /// First states of activities that have followed, accepted in this second.
        package var follow = LatencyHistogram()
        /// Nanoseconds.
        package var longestTurn: Int64 = 0

        mutating func merge(_ other: Interval) {
            sent += other.sent
            accepted += other.accepted
            bytes += other.bytes
            stages.merge(other.stages)
            follow.merge(other.follow)
            longestTurn = max(longestTurn, other.longestTurn)
        }
    }

    /// Times of the stages that each push has.
    package var stages = StageHistograms()
    package var follow = LatencyHistogram()
    /// Spreads of the goals, by their number from 0.
    package var goals = Array(repeating: LatencyHistogram(), count: PublicationTable.goalsMax)
    /// Monotonic moments of each publication's first push, by serial; 0 for those without one.
    package var firsts: [Int64] = []
    /// Bytes of content states handed to the transport.
    package var stateBytes = 0
    /// Pushes that were not measured, because there was no room for their slots.
    package var untracked = 0
    /// Ends of cards after their unfollows that were accepted in the measurement.
    package var ends = 0
    /// Pushes of the measurement that were accepted although the activity had accepted their publication before.
    package var repeated = 0
    /// Nanoseconds of the probe's own work on its shard's thread.
    package var own: Int64 = 0
    /// Processor time per push, slice by slice (`PushCosts`).
    package var costs = LatencyHistogram()

    package init() {}

    /// - Parameter goals: number of goals whose spreads take their memory now.
    init(goals count: Int) {
        for index in 0..<min(count, goals.count) { goals[index].reserve() }
    }

    package mutating func merge(_ other: ProbeReading) {
        stages.merge(other.stages)
        follow.merge(other.follow)
        for index in goals.indices { goals[index].merge(other.goals[index]) }
        if firsts.isEmpty {
            firsts = other.firsts
        } else {
            for index in firsts.indices where index < other.firsts.count && other.firsts[index] != 0 {
                firsts[index] = firsts[index] == 0 ? other.firsts[index] : min(firsts[index], other.firsts[index])
            }
        }
        stateBytes += other.stateBytes
        untracked += other.untracked
        ends += other.ends
        repeated += other.repeated
        own += other.own
        costs.merge(other.costs)
    }
}

/// Finished seconds of all probes, merged. Any thread.
package final class ReadingShelf: Sendable {
    /// A second at rest.
    package struct Second: Sendable {
        package let sent: Int
        package let accepted: Int
        package let bytes: Int
        /// Nanoseconds.
        package let longestTurn: Int64
        package let stages: SparseStageHistograms
        package let follow: SparseHistogram

        init(_ interval: ProbeReading.Interval) {
            (sent, accepted, bytes) = (interval.sent, interval.accepted, interval.bytes)
            longestTurn = interval.longestTurn
            stages = SparseStageHistograms(interval.stages)
            follow = SparseHistogram(interval.follow)
        }

        package var interval: ProbeReading.Interval {
            var interval = ProbeReading.Interval()
            (interval.sent, interval.accepted, interval.bytes) = (sent, accepted, bytes)
            interval.longestTurn = longestTurn
            interval.stages = stages.histograms
            interval.follow = follow.histogram
            return interval
        }
    }

    private let seconds = Locked<[Second]>([])
    /// Seconds that are kept: a day.
    private static let secondsMax = 86_400

    package init() {}

    func put(_ interval: ProbeReading.Interval, second: Int) {
        guard second < ReadingShelf.secondsMax else { return }
        seconds.withLock { seconds in
            while seconds.count <= second { seconds.append(Second(ProbeReading.Interval())) }
            var merged = seconds[second].interval
            merged.merge(interval)
            seconds[second] = Second(merged)
        }
    }

    package var all: [Second] { seconds.withLock { $0 } }
    /// Memory of the seconds, which the laboratory takes and not the engine.
    package var bytes: Int {
        seconds.withLock { seconds in
            seconds.capacity * MemoryLayout<Second>.stride + seconds.reduce(0) { $0 + $1.stages.bytes + $1.follow.size }
        }
    }
    /// The newest second; `nil` before the first.
    package var last: ProbeReading.Interval? { seconds.withLock { $0.last }?.interval }
}
