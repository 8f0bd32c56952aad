import FanfareFanOut
import FanfareModel

/// A push at the moment at which it leaves, with what its judges compare it with.
struct Sight {
    let payload: Payload
    let token: [UInt8]
    /// The phone before the push.
    let phone: Phone
    let published: PublishedTopics
    /// True time, and that of the engine's clock.
    let moment: Moment
    let engine: Moment
    /// Time for which the system keeps a card.
    let lifetime: Duration
    /// Is `true` if the service takes nothing at this moment: phones drop nothing that APNs has not accepted.
    let isUnseen: Bool
    /// What is wrong with the JWT of the push.
    let faultOfJWT: String?
    /// Alerts that the push names, the leading one first; `nil` for a text that belongs to none.
    let told: [AlertText]?

    var now: MonotonicTime { moment.monotonic }
    /// Serial of the newest publication that the phone is to see.
    var newestSerial: UInt64 { published.newestSerial(for: phone.following) }
}

/// Judges one rule of pushes by the phone's history, and knows neither the world nor other judges. Numbers in the texts are the design's
/// invariants.
protocol PushJudge: Sendable {
    /// - Returns: the fault of a push; `nil` if the rule allows it.
    func seen(_ sight: Sight) -> String?
}
