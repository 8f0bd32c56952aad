/// Grounds on which a thread goes by its wall clock, the weakest first.
@usableFromInline package enum WallTrust: UInt8, Sendable, Comparable {
    /// APNs has accepted no JWT of this clock yet. A machine that boots may be hours off until its clock is set.
    case awaitsProof
    /// No proof is to come: nothing is sent to APNs, or nothing has been accepted for `WallTrust.patience`.
    case assumed
    /// APNs has accepted a JWT of this clock.
    case proven

    /// Time for which a thread waits for the proof, from its first reading of the clocks. An engine whose topics are silent for as long as
    /// that sends nothing that could prove the clock.
    package static let patience = Duration.seconds(3600)

    @inlinable package static func < (one: WallTrust, other: WallTrust) -> Bool { one.rawValue < other.rawValue }
}
