import FanfareModel

/// Patience of a connection with its peer, which may be silent, leave requests unanswered and allow no requests, but each only for a while.
struct PeerPatience {
    var silence: Silence
    var answers: AnswerDeadline
    var allowance = StreamAllowance()

    /// Notes the first request of a period with requests in flight.
    mutating func becameBusy(at now: MonotonicTime) {
        answers.begin(at: now)
        silence.becameBusy(at: now)
    }

    /// Returns the time at which the patience ends with the first of the three.
    ///
    /// - Parameters:
    ///   - takesRequests: `false` if no more requests will be sent, so that none needs to be allowed.
    ///   - isBusy: `true` while requests are in flight.
    func ends(takesRequests: Bool, isBusy: Bool) -> MonotonicTime {
        let ends = min(answers.next, silence.ends(isBusy: isBusy))
        return takesRequests ? min(ends, allowance.noneEnds) : ends
    }

    /// Describes a contradiction in the peer's silence or in what it allows; `nil` if there is none. For tests.
    func violation() -> String? { silence.violation() ?? allowance.violation() }
}
