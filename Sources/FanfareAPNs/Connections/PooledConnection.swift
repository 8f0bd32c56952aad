import FanfareModel

/// Member of at most one `Candidates` list in its life.
protocol Candidate: AnyObject {
    /// `true` while the list contains the member. Set by `Candidates` only.
    var isCandidate: Bool { get set }
}

/// A connection as the set sees it that keeps a slot for it (`ConnectionSet`).
protocol PooledConnection: Candidate {
    /// Number of the connection, unique for the life of its set.
    var serial: UInt64 { get }
    var record: AnswerRecord { get }
    var times: AnswerTimes { get set }
    var isDialing: Bool { get }
    var isOpen: Bool { get }
    /// Time of the last bytes from the peer.
    var lastReceived: MonotonicTime { get }
    var nextDeadline: MonotonicTime { get }

    /// Returns `true` if the end of the connection is unrelated to earlier ends, because it has been open for so long.
    func hasLasted(at now: MonotonicTime) -> Bool
    /// Returns `true` while the peer allows fewer requests than a moment ago.
    func isReduced(at now: MonotonicTime) -> Bool
    /// Sends a PING unless one is unanswered. Calls nothing back.
    func askForSignOfLife(at now: MonotonicTime)
}
