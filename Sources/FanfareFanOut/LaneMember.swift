/// Who is served in the lanes (`Lanes`): an audience, or the lineups of a topic. Confined to its shard's thread.
class LaneMember {
    // Unchecked for the reason given in `Shard`.
    @exclusivity(unchecked) final var lane = LaneState()

    /// Somebody is to be visited.
    var hasWork: Bool { false }

    /// The lane in which that belongs.
    var preferredLane: Int { Lanes.lastLane }

    /// Of the two kinds of members this one is; `nil`: it is the other.
    var audience: Audience? { nil }
    var lineups: TopicLineups? { nil }

    /// So many visits have been made, of whomever.
    func noteVisits(_ count: Int) {}
}
