import FanfareFanOut
import FanfareModel

/// Progress of a card that a push starts.
struct StartedCard {
    let name: String
    let edition: Int
    /// Index of the phone whose card this one replaces once its token has registered: in truth, the same phone.
    let renews: Int?
    /// Is `true` while a start is in flight, accepted or of uncertain outcome: a second start is then a violation.
    var isOut = false
    /// Is `true` when the app has sent the card's token; `isRegistered` when the token has reached the shard.
    var isReported = false
    var isRegistered = false
    /// Number of times that the start was put off because of its own errors.
    private(set) var putOffs = 0
    private var lastOutage: Int?

    init(_ name: String, edition: Int = 1, renews: Int? = nil) {
        self.name = name
        self.edition = edition
        self.renews = renews
    }

    /// Takes the answer to a start. A start that was certainly not taken may be followed by another one.
    ///
    /// - Parameter outage: number of the service's outage that the start met, if any.
    mutating func answered(_ outcome: DeliveryOutcome, outage: Int?) {
        if outcome != .accepted, outcome != .uncertain { isOut = false }
        guard outcome == .throttled || outcome == .serviceError else { return }
        // One answer of an outage may count as the start's own error.
        if outage == nil || outage != lastOutage { putOffs += 1 }
        if let outage { lastOutage = outage }
    }
}
