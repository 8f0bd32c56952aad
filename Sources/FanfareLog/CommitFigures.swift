package import FanfareModel
package import FanfareQueues

/// Figures of the commits of one part of a store since the store was opened, and of what the part has.
package struct CommitFigures: Sendable, Equatable {
    /// Time from the beginning of each commit until it was durable, with all tries that failed.
    package private(set) var times = Histogram()
    /// Reason why the disk refuses the present commit; `nil` if it has not refused the commit.
    package private(set) var trouble: String?
    package private(set) var size = DiskSize()
    /// Number of entries or cards; `nil` if it is not known.
    package private(set) var rows: Int?
    /// Position of the newest durable entry; 0 without one, and for a part without positions.
    package private(set) var newest: LogPosition = 0
    /// Beginning of the present commit; `nil` between two commits.
    private var began: MonotonicTime?

    mutating func begin(at now: MonotonicTime) { began = now }

    /// Notes that the disk has refused a try; the thread tries again.
    mutating func fail(_ reason: String) { trouble = reason }

    mutating func end(at now: MonotonicTime) {
        if let began { times.record(now.nanoseconds(since: began)) }
        (began, trouble) = (nil, nil)
    }

    /// Notes that the commit is not tried again.
    mutating func giveUp() { (began, trouble) = (nil, nil) }

    mutating func note(_ size: DiskSize, rows: Int?, newest: LogPosition) {
        (self.size, self.rows, self.newest) = (size, rows, newest)
    }

    /// Returns the time for which the present commit has been on its way to the disk; `nil` between two commits.
    package func running(at now: MonotonicTime) -> Duration? { began.map { max(.zero, now - $0) } }
}
