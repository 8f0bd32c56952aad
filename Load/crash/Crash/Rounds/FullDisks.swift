/// Full disks of a run: how many there were, and what they meant for the program.
struct FullDisks {
    private(set) var count = 0
    /// Number of full disks that held requests back.
    private(set) var held = 0
    /// Number of programs that were killed under a full disk.
    private(set) var kills = 0
    /// Time from which on the disk is full; `nil` while it is not.
    private(set) var fullSince: Int64?
    /// Time of the request that has filled it.
    private var askedAt: Int64 = 0
    private var lastAcknowledged: Int64 = 0
    private var isHeld = false

    /// Silence after which requests count as held back.
    private static let heldNanoseconds: Int64 = 90_000_000
    /// Alerts leave without claims after two seconds without an answer of the disk, which may owe one when it becomes full.
    private static let claimPatienceNanoseconds: Int64 = 1_800_000_000

    mutating func begin(at now: Int64, askedAt: Int64) {
        count += 1
        self.askedAt = askedAt
        (fullSince, lastAcknowledged, isHeld) = (now, now, false)
    }

    /// Notes the number of acknowledgements since the last call.
    mutating func note(_ acknowledgements: Int, at now: Int64) {
        guard fullSince != nil else { return }
        if acknowledgements > 0 { lastAcknowledged = now }
        guard !isHeld, now - lastAcknowledged >= FullDisks.heldNanoseconds else { return }
        isHeld = true
        held += 1
    }

    /// Notes that the disk is free again.
    mutating func end() { fullSince = nil }

    /// Notes a kill, behind which the next program has room.
    ///
    /// - Returns: the time from which on alerts may have left without claims, in the future if the disk has not been full for so long; `nil` if the
    ///   disk is not full.
    mutating func kill() -> Int64? {
        guard fullSince.take() != nil else { return nil }
        kills += 1
        return askedAt + FullDisks.claimPatienceNanoseconds
    }
}
