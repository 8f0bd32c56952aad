import FanfareModel

/// Distribution of the times that changes waited. Resolution is a millisecond below a minute, a second below an hour (the longest interval
/// that rules allow), and a minute above that, for changes held back by a pause. Values are rounded up, and waits of a day or more count as
/// one value, so the size is bounded.
package struct WaitTally: Sendable, Equatable {
    /// Number of waits by their length in milliseconds.
    private var waits: [Int64: Int] = [:]
    package private(set) var count = 0
    /// Longest wait, exact whatever its length.
    package private(set) var worst: Duration?

    private static let minute: Int64 = 60_000
    private static let longest = 24 * 60 * minute

    package init() {}

    mutating func note(_ wait: Duration) {
        let wait = max(0, wait.milliseconds)
        waits[WaitTally.counted(wait), default: 0] += 1
        count += 1
        worst = max(worst ?? .zero, .milliseconds(wait))
    }

    mutating func add(_ other: WaitTally) {
        waits.merge(other.waits, uniquingKeysWith: +)
        count += other.count
        worst = [worst, other.worst].compactMap(\.self).max()
    }

    /// Median wait; the upper one of an even number. `nil` if no change was counted.
    package var median: Duration? {
        var seen = 0
        for (wait, times) in waits.sorted(by: { $0.key < $1.key }) {
            seen += times
            if seen > count / 2 { return worst.map { min($0, .milliseconds(wait)) } }
        }
        return nil
    }

    private static func counted(_ wait: Int64) -> Int64 {
        if wait < minute { return wait }
        let unit = wait < 60 * minute ? 1000 : minute
        return min(longest, (wait + unit - 1) / unit * unit)
    }

    /// Number of distinct values, for tests.
    var remembered: Int { waits.count }
}
