/// The waits of an audience for a `ClaimBook`, which lists the audience by its `AudienceTenant`.
struct ClaimWait {
    /// Is `true` while the audience waits for room to name its members.
    private(set) var isUnnamed = false
    /// Is `true` from the store's answer, for which the audience waited, to the audience's next visit.
    private(set) var isReady = false

    /// Begins a wait for room.
    ///
    /// - Returns: `false` if the audience waits for room already.
    mutating func awaitRoom() -> Bool {
        defer { isUnnamed = true }
        return !isUnnamed
    }

    /// Ends a wait for room.
    ///
    /// - Returns: `false` if the audience did not wait for room.
    mutating func endWaitForRoom() -> Bool {
        defer { isUnnamed = false }
        return isUnnamed
    }

    /// Notes that claims of the next members are durable.
    mutating func noteReady() { isReady = true }

    mutating func noteVisit() { isReady = false }
}
