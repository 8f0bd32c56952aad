import FanfareFanOut

/// Feedback of a season's shard that only a store is to hear, and that has no answer.
struct StoreFeedback {
    /// Activities that the shard has removed, and has not been asked about.
    var removals: [(id: UInt64, token: UInt64)] = []
    /// Requests for claims.
    var claims: [ClaimRequest] = []
}
