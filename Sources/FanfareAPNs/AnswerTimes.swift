/// Times that the answers on a connection take. All times are monotonic nanoseconds.
struct AnswerTimes {
    /// Answers of any kind, PONGs among them: the distance.
    private(set) var roundTrip = RoundTrip(memory: .seconds(10))
    /// Answers to pushes of the last moments, including all queues.
    private(set) var pace = RoundTrip(memory: .seconds(1))
    /// Answers to pushes that were alone on the connection: the distance and the peer's own work, without a queue of ours.
    private(set) var service = RoundTrip(memory: .seconds(10))
    /// Number of pushes sent since the connection last had none in flight.
    private var sentTogether = 0

    /// Notes that no push is in flight.
    mutating func noteRest() { sentTogether = 0 }

    mutating func noteSent() { sentTogether += 1 }

    /// Notes a push that was accepted.
    mutating func noteAccepted(after time: Int64, at now: Int64) {
        if sentTogether == 1 { service.note(time, at: now) }
    }

    /// Notes the quickest of the answers to pushes that were read together.
    mutating func noteAnswers(after time: Int64, at now: Int64) {
        roundTrip.note(time, at: now)
        pace.note(time, at: now)
    }

    mutating func notePong(after time: Int64, at now: Int64) { roundTrip.note(time, at: now) }
}
