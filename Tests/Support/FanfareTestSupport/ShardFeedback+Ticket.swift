package import FanfareFanOut

extension ShardFeedback {
    /// The ticket of a request for claims; `nil` for all other feedback.
    package var ticket: UInt64? { if case .claims(let request) = self { request.ticket } else { nil } }
}
