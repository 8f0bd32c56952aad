import FanfareModel

/// Commit on its way to a disk, and the operators' knowledge of it.
struct CommitWatch {
    /// Time at which the commit began; `nil` if there is none.
    var since: MonotonicTime?
    /// Beginning of the commit that operators know to be slow.
    private var reported: MonotonicTime?
    /// Time after which a commit counts as slow, and operators get a report.
    private static let slow = Duration.seconds(2)

    enum Transition { case isSlow, answersAgain }

    /// Returns the next transition that operators get a report of; called until there is none.
    mutating func transition(at clock: MonotonicTime) -> Transition? {
        if let reported, reported != since {
            self.reported = nil
            return .answersAgain
        }
        guard reported == nil, let since, clock >= since + CommitWatch.slow else { return nil }
        reported = since
        return .isSlow
    }

    /// Is `true` while operators know that the commit is slow.
    var isKnownSlow: Bool { reported != nil && reported == since }

    /// Time at which the commit becomes slow unless the disk answers; `never` if it does not.
    var deadline: MonotonicTime { reported == nil ? since.map { $0 + CommitWatch.slow } ?? .never : .never }
}
