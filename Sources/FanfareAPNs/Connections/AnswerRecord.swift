import FanfareModel

/// Record of a connection's answers, which shows whether the connection is useful, and whether another one may do better.
struct AnswerRecord {
    /// Number of processed pushes.
    private(set) var answers = 0
    /// Time of the last processed push.
    private(set) var lastSuccess = MonotonicTime.always
    /// 5xx answers, resets and timeouts since the last good answer, except those that are evidence about their activity alone.
    private(set) var errorsInARow = 0
    /// Number of answers in a row that called a token dead or a request wrong, and that another connection must confirm. The
    /// connection may be right, so it is not replaced; but others are preferred, or the same connection would be asked again.
    private(set) var unconfirmedInARow = 0
    /// Answers of this connection, and how many of them were final for their activities.
    var finalAnswers = FinalAnswers()
    /// `true` once the peer has refused a JWT as too old and there was no other one.
    var hasSeenExpiredJWT = false
    /// `true` if the peer or the network ended this connection while it was healthy and idle, after it had been open for
    /// longer than a peer takes to refuse one.
    var wasEndedAtRest = false

    /// Errors without a good answer between them, after which another connection may do better.
    static let errorsInARowMax = 8
    /// Answers after which a lost connection is replaced at once: a connection that breaks again and again then costs at
    /// most one handshake per hundred pushes, and throughput falls by no more than that.
    private static let trafficAnswersMin = 100
    /// Answers with which the connection was worth its handshake, which costs a peer as much as some hundred pushes.
    private static let earningAnswers = 500
    /// Answers after which the slot's next wait is short again. One answer is not enough: a server that takes one push from each connection and ends
    /// it would be dialled as fast as it answers, which APNs considers an attack (spec §10).
    private static let successAnswersMin = 16

    /// `true` once a push with our JWT has been processed.
    var hasSucceeded: Bool { answers > 0 }
    var isInDoubt: Bool { errorsInARow >= AnswerRecord.errorsInARowMax }
    var carriedTraffic: Bool { answers >= AnswerRecord.trafficAnswersMin }
    var hasEarnedAnother: Bool { answers >= AnswerRecord.earningAnswers }
    /// `true` at the answer with which the connection has succeeded often enough for a short wait after its end.
    var hasJustSucceeded: Bool { answers == AnswerRecord.successAnswersMin }

    /// Notes a processed push. Returns `true` if the connection was in doubt.
    mutating func noteSuccess() -> Bool {
        let wasInDoubt = isInDoubt
        answers += 1
        (errorsInARow, unconfirmedInARow) = (0, 0)
        return wasInDoubt
    }

    /// Notes the time of the pushes that were processed last.
    mutating func noteSuccesses(at now: MonotonicTime) { lastSuccess = now }

    mutating func noteUnconfirmed() { unconfirmedInARow += 1 }

    /// Notes a request that was answered 5xx, was reset, or timed out.
    mutating func noteError(_ evidence: FailureEvidence) { if evidence != .activity { errorsInARow += 1 } }

    /// Notes a request that timed out. With no push processed since it was sent, it puts the connection in doubt at once: the peer may
    /// answer PINGs forever while the service behind it answers nothing.
    mutating func noteOverdue(sentAt: MonotonicTime, _ evidence: FailureEvidence) {
        if evidence != .activity, lastSuccess < sentAt {
            errorsInARow = max(errorsInARow, AnswerRecord.errorsInARowMax)
        }
    }

    /// Describes a time of success without an answer, or a contradiction in the final answers; `nil` if there is none. For tests.
    func violation() -> String? {
        guard lastSuccess == .always || hasSucceeded else { return "a success at \(lastSuccess), and no answer" }
        return finalAnswers.violation()
    }
}
