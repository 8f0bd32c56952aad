/// A unit of work in the lanes (`Lanes`): an audience, the lineups of a topic, lineups that are due, or the turn of those that wait for room.
/// `Dispatcher` tells them apart by their classes. Confined to its shard's thread.
class LaneMember {
    // Unchecked for the reason given in `Membership`.
    @safe @exclusivity(unchecked) final var lane = LaneState()

    /// Is `true` while a visit is pending.
    var hasWork: Bool { false }

    /// The lane in which the work belongs.
    var preferredLane: Int { Lane.last }

    /// Notes visits of any kind.
    func noteVisits(_ count: Int) {}
}
