import FanfareFanOut
import FanfareModel

/// A request in flight.
struct SentRequest {
    let slot: ActivitySlot
    let generation: UInt32
    /// Serial of the JWT that the request was sent with.
    let tokenSerial: UInt64
    /// Time of sending; `.never` in a vacant place of a `RequestTable`.
    var sentAt: MonotonicTime
}
