import FanfareFanOut
import FanfareModel

/// A push on its way to a phone, and the answer that it is to get.
struct Flight {
    let delivery: Delivery
    let payload: Payload
    /// Texts of the alerts that the push names.
    let told: [AlertText]
    let phone: Int
    let token: [UInt8]
    var outcome: DeliveryOutcome
    var arrives: Bool
    var jwt: Credentials.JWT?
    /// Is `true` if the phone does not drop the push for a stamp too old or too far ahead of its own clock.
    let isTaken: Bool
    /// Trouble that the push met.
    let trouble: Trouble?
}
