/// A unit of work in the lanes (`Lanes`): an audience, the lineups of a topic, or lineups that are due. Confined to its shard's thread.
class LaneMember {
    // Unchecked for the reason given in `Shard`.
    @safe @exclusivity(unchecked) final var lane = LaneState()

    /// Is `true` while a visit is pending.
    var hasWork: Bool { false }

    /// The lane in which the work belongs.
    var preferredLane: Int { Lanes.lastLane }

    /// The member as an audience; `nil` if it is the lineups of a topic.
    var audience: Audience? { nil }
    /// The member as the lineups of a topic; `nil` if it is an audience.
    var lineups: TopicLineups? { nil }

    /// The member as lineups that are due; `nil` if it is something else.
    var due: DueLineups? { nil }

    /// Notes visits, whatever they were to.
    func noteVisits(_ count: Int) {}
}
