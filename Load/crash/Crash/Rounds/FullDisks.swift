/// Full disks of a run: how many there were, and what they meant for the program.
struct FullDisks {
    private(set) var count = 0
    /// Number of full disks that held requests back.
    private(set) var held = 0
    /// Number of programs that were killed under a full disk.
    private(set) var kills = 0
    /// Time from which on the disk is full; `nil` while it is not.
    private(set) var fullSince: Int64?
    private var lastAcknowledged: Int64 = 0
    private var isHeld = false

    /// Silence after which requests count as held back.
    private static let heldNanoseconds: Int64 = 90_000_000
    /// Alerts leave without claims after two seconds without an answer of the disk. A program may count from before the driver, which has other work.
    private static let claimPatienceNanoseconds: Int64 = 1_800_000_000

    mutating func begin(at now: Int64) {
        count += 1
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
    /// - Returns: `true` if the disk was full for so long that alerts may have left without claims.
    mutating func kill(at now: Int64) -> Bool {
        guard let since = fullSince.take() else { return false }
        kills += 1
        return now - since >= FullDisks.claimPatienceNanoseconds
    }
}
