package import FanfareModel

/// Request of a shard to make claims durable.
package struct ClaimRequest: Sendable {
    /// Number of the request, counting up.
    package let ticket: UInt64
    package let claims: [AlertClaim]
    /// Starts that are about to leave.
    package let starts: [StartMark]
}
