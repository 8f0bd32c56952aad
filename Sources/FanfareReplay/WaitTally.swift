import FanfareModel

/// How long changes waited. To the millisecond below a minute and to the second below an hour, the longest that rules have them wait; what
/// a pause held back counts by whole minutes. What lies between is rounded up, and what waited for a day or more counts alike. So it does
/// not grow with what is counted.
package struct WaitTally: Sendable, Equatable {
    /// How often, by milliseconds.
    private var waits: [Int64: Int] = [:]
    package private(set) var count = 0
    /// Exact, whatever its length.
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

    /// Of as many shorter ones as longer ones the longer; `nil` where nothing waited, not even for no time.
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

    /// Different waits that are told apart, for tests.
    var remembered: Int { waits.count }
}
