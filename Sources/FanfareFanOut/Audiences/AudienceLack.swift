/// Versions and pushes that the members of an audience lack at one moment.
struct AudienceLack {
    /// Number of the audience among all that the shard has had (`AudienceTenant`).
    let tenant: UInt64
    /// Number of the newest version.
    let target: UInt32
    /// The oldest version that a member has.
    let oldest: UInt32
    /// Members with a pending push, and starts once there is something to show.
    let owed: Int
    /// Members whose newest version was refused for good.
    let refused: Int
    /// Is `true` while a lineup keeps changes for its next version.
    let hasDeferredChanges: Bool
}
