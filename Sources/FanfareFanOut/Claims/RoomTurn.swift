/// The place in the first lane of audiences and lineups that wait for room among the names of claims: it comes after all entries of the lane, so that
/// no visit is in vain for lack of room. `AlertClaims.serveRoomTurn` carries the turn out and lets them go on; `ClaimBook` lists them.
final class RoomTurn: LaneMember {
    /// Is `true` while an audience or a lineup waits for which there is room, or which no answer of the store releases.
    @safe @exclusivity(unchecked) var isDue = false
    /// Maximum of names that one turn gives. While there is room the turn stays due, and the other lanes have theirs in between.
    static let namesMax = 512

    override var hasWork: Bool { isDue }
    override var preferredLane: Int { 0 }
}
