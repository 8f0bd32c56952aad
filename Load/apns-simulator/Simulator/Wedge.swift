/// A wedged connection: it stays open, takes requests and PINGs, and never serves a request.
package struct Wedge: Sendable, Equatable {
    /// Requests that are answered normally before the connection is wedged.
    package var afterRequests: Int
    /// Answer to all later requests; `nil` for no answer.
    package var answer: Answer?
    /// Share of the connections, 0–1.
    package var share: Double

    package init(afterRequests: Int, answer: Answer? = nil, share: Double = 1) {
        self.afterRequests = afterRequests
        self.answer = answer
        self.share = share
    }
}
