/// The way in which a stream comes to its end: in order, when the program asks for that, or by its first failure.
struct StreamEnding {
    /// An error that occurred where no callback may be called; reported at the end of the turn.
    struct Failure {
        let error: LoopError
        /// `true` once a write has failed, now or later: the system may still hold bytes that the peer sent before it went.
        fileprivate(set) var isOfWrite: Bool
    }

    /// Progress of the end in order.
    private enum Order { case notAsked, asked, shutDown }
    private var order = Order.notAsked
    private(set) var failure: Failure?

    /// `true` once the program has asked for the end in order.
    var isAsked: Bool { order != .notAsked }
    /// `true` while neither the program nor a failure ends the stream.
    var takesBytes: Bool { order == .notAsked && failure == nil }

    /// Asks for the end in order.
    ///
    /// - Returns: `false` if it was asked for before.
    mutating func ask() -> Bool {
        guard order == .notAsked else { return false }
        order = .asked
        return true
    }

    /// Notes that the peer is told the end.
    ///
    /// - Returns: `false` if it was told before, or nobody has asked for the end.
    mutating func beginShutdown() -> Bool {
        guard order == .asked else { return false }
        order = .shutDown
        return true
    }

    /// Notes a failure; only the first one is reported.
    ///
    /// - Returns: `true` for the first one.
    mutating func fail(_ error: LoopError, isOfWrite: Bool) -> Bool {
        guard failure == nil else {
            if isOfWrite { failure?.isOfWrite = true }
            return false
        }
        failure = Failure(error: error, isOfWrite: isOfWrite)
        return true
    }
}
