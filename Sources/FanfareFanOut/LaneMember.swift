/// A unit of work in the lanes (`Lanes`): an audience, or the lineups of a topic. Confined to its shard's thread.
class LaneMember {
    // Unchecked for the reason given in `Shard`.
    @exclusivity(unchecked) final var lane = LaneState()

    /// Is `true` while a visit is pending.
    var hasWork: Bool { false }

    /// The lane in which the work belongs.
    var preferredLane: Int { Lanes.lastLane }

    /// The member as an audience; `nil` if it is the lineups of a topic.
    var audience: Audience? { nil }
    /// The member as the lineups of a topic; `nil` if it is an audience.
    var lineups: TopicLineups? { nil }

    /// Notes visits, whatever they were to.
    func noteVisits(_ count: Int) {}
}
