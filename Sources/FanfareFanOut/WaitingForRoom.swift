/// Those who wait for room among the names of claims, as a member of the first lane: its turn comes behind all that stand there already, so those
/// who wait are let go once those before them have had theirs. `ClaimBook` has who they are.
final class WaitingForRoom: LaneMember {
    /// Is `true` while some wait, and no answer of the store will let them go.
    @exclusivity(unchecked) var isDue = false

    override var hasWork: Bool { isDue }
    override var preferredLane: Int { 0 }
}
