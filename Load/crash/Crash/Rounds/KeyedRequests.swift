import FanfareModel

/// The newest acknowledged calls with idempotency keys, which are handed in again. An engine knows keys for 24 hours, and far more of them than these.
struct KeyedRequests {
    private var newest: [Request] = []
    /// Place of the oldest one, once there are as many as are kept.
    private var oldest = 0
    /// Number of acknowledged calls that were handed in again and answered as repeated ones.
    private(set) var repeats = 0
    /// Number of calls that were known when they were asked for again because a kill had swallowed their answers.
    private(set) var lost = 0

    static let keptMax = 400

    /// Notes the answer to a call; one without a key, or without a durable answer, is left out.
    ///
    /// - Parameter isRepeat: `true` for a call that was acknowledged before.
    mutating func note(_ answer: Answer, to request: Request, isRepeat: Bool) {
        guard request.key != nil, answer == .durable || answer == .repeated else { return }
        if answer == .repeated {
            if isRepeat { repeats += 1 } else { lost += 1 }
        }
        if !isRepeat { keep(request) }
    }

    private mutating func keep(_ request: Request) {
        guard newest.count == KeyedRequests.keptMax else { return newest.append(request) }
        newest[oldest] = request
        oldest = (oldest + 1) % KeyedRequests.keptMax
    }

    /// Returns the calls in any order.
    func drawn(by random: inout SplitMix64) -> [Request] { newest.shuffled(using: &random) }
}
