/// The turn, in the first lane, of those who wait for room among the names of claims: it comes behind all that stand there already, so that nobody
/// is visited in vain while there is no room. `ClaimBook` has who they are.
final class RoomTurn: LaneMember {
    /// Is `true` while some wait whom no answer of the store will let go.
    @safe @exclusivity(unchecked) var isDue = false

    override var hasWork: Bool { isDue }
    override var preferredLane: Int { 0 }
}
