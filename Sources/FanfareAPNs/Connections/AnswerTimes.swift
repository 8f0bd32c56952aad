import FanfareModel

/// Times that the answers on a connection take.
struct AnswerTimes {
    /// Answers to PINGs that came while the pool had room: the distance. No push delays them, neither ours nor those in the peer's queue.
    /// The memory holds at least two of them, so that one pause of this machine is no distance.
    private(set) var roundTrip: RoundTrip
    /// Response times: answers to pushes of the last moments, with the waits in all queues.
    private(set) var response = RoundTrip(memory: .seconds(1))
    /// Service times: answers to pushes that were alone on the connection, so the distance and the peer's own work, without a queue of ours.
    private(set) var service = RoundTrip(memory: .seconds(10))
    /// The answers' times compared with those of the other connections.
    private(set) var slowness = Slowness()
    /// Number of pushes sent since the connection last had none in flight.
    private var sentTogether = 0
    /// Time at which the newest PING was sent.
    private(set) var lastPing: MonotonicTime?
    /// `true` while the newest PING is unanswered, whatever else arrives.
    private var awaitsPong = false
    /// `true` if no queue stood before the newest PING when it was sent.
    private var pingWasClear = false

    /// - Parameter pingInterval: time after which the distance is measured again.
    init(pingInterval: Duration = .seconds(45)) { roundTrip = RoundTrip(memory: pingInterval * 4 / 3) }

    /// Notes that no push is in flight.
    mutating func noteRest() { sentTogether = 0 }

    mutating func noteSent() { sentTogether += 1 }

    /// `true` if one push has been sent since the connection last had none in flight.
    var wasSentAlone: Bool { sentTogether == 1 }

    /// Notes a push that was accepted.
    mutating func noteAccepted(after time: Duration, at now: MonotonicTime) {
        if wasSentAlone { service.note(time, at: now) }
    }

    /// Notes the quickest of the answers to pushes that were read together.
    mutating func noteAnswers(after time: Duration, at now: MonotonicTime) { response.note(time, at: now) }

    /// Compares the answers with those of the other connections.
    ///
    /// - Parameter median: answer time of the connection in the middle; `nil` if too few are known.
    mutating func compare(to median: Duration?, at now: MonotonicTime) {
        slowness.compare(response, to: median, at: now)
    }

    /// - Parameter limit: time above which answers are slow; `nil` if too few connections are known.
    mutating func judge(limit: Duration?, at now: MonotonicTime) { slowness.judge(response, limit: limit, at: now) }

    /// - Parameter isClear: `true` if no more requests were in flight than TCP sends at once, and no bytes waited.
    mutating func notePing(isClear: Bool, at now: MonotonicTime) {
        lastPing = now
        pingWasClear = isClear
        awaitsPong = true
    }

    /// Notes the answer to the newest PING.
    ///
    /// - Parameter isUndelayed: `true` if the PING did not wait behind pushes, so that its time is the distance.
    /// - Returns: `false` if no PING was unanswered.
    mutating func notePong(isUndelayed: Bool, at now: MonotonicTime) -> Bool {
        guard awaitsPong, let lastPing else { return false }
        awaitsPong = false
        if isUndelayed, pingWasClear { roundTrip.note(now - lastPing, at: now) }
        return true
    }

    /// Describes a PONG that is awaited without a PING, or a contradiction in the measurements; `nil` if there is none. For tests.
    func violation() -> String? {
        guard lastPing != nil || !awaitsPong && roundTrip.least == nil else { return "no PING, and a PONG" }
        return roundTrip.violation() ?? response.violation() ?? service.violation() ?? slowness.violation()
    }
}
