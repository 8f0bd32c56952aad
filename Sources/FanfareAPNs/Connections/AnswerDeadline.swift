import FanfareModel

/// Time limit of a connection's answers. It grows when even the quickest answers take a good part of the usual time: the peer
/// then has a queue, and requests in the queue are not lost.
struct AnswerDeadline {
    /// Usual time limit.
    private let usual: Duration
    /// Deadline of the oldest request; may be early after that request was answered, and the check then finds nothing.
    private(set) var next = MonotonicTime.never

    /// Limit of an answer's time, as a multiple of the quickest answer's time.
    private static let queueFactor = 4
    /// Limit of an answer's time, as a multiple of the request timeout, however slow the peer is, because the activity gets
    /// nothing newer meanwhile.
    private static let patienceFactor = 3

    init(usual: Duration) { self.usual = usual }

    /// Notes the first request of a period with requests in flight.
    mutating func begin(at now: MonotonicTime) { next = now + usual }

    /// Notes the time of the oldest request that is left; `nil` if none is.
    mutating func renew(oldest: MonotonicTime?, _ response: RoundTrip, at now: MonotonicTime) {
        guard let oldest else { return next = .never }
        let latest = queueEnds(response, at: now) ?? .never
        next = min(oldest + patience(response, at: now), latest)
    }

    /// Returns the time limit of an answer.
    func patience(_ response: RoundTrip, at now: MonotonicTime) -> Duration {
        guard queueEnds(response, at: now) != nil, let least = response.least else { return usual }
        return AnswerDeadline.patience(usual: usual, least: least)
    }

    /// Returns the time limit at a peer with a queue.
    ///
    /// - Parameter least: time of the quickest answers.
    static func patience(usual: Duration, least: Duration) -> Duration {
        max(usual, min(least * queueFactor, usual * patienceFactor))
    }

    /// Returns the time until which the last answer shows that others will come, or `nil`: a connection that falls silent has no queue.
    private func queueEnds(_ response: RoundTrip, at now: MonotonicTime) -> MonotonicTime? {
        guard let notedAt = response.notedAt, let least = response.least, least > usual / AnswerDeadline.queueFactor
        else {
            return nil
        }
        let end = notedAt + usual / 2
        return now < end ? end : nil
    }
}
