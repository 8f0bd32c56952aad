package import FanfareFanOut

extension Shard {
    /// Takes all feedback, and keeps nothing of it but the newest request for claims.
    ///
    /// - Returns: the ticket of the newest request for claims; `nil` if there was none.
    package func takeTicket() -> UInt64? {
        var ticket: UInt64?
        drainFeedback { if case .claims(let request) = $0 { ticket = request.ticket } }
        return ticket
    }
}
