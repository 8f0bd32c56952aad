import FanfareModel

/// States of the lineups of one member, by their rows in `LineupTable`, while they have no audience object; and such objects, left by lineups that
/// rest, for lineups that wake up.
///
/// States and rows are no secret: `LineupTable` reads and changes single ones for each visit in place.
struct LoneLineups {
    /// States by row. Those of other lineups have no rotation.
    var states: [LoneLineup] = []
    /// Row by index of the audience of a lineup whose state is here; `none` for other audiences.
    private(set) var rows: [UInt32] = []
    static let none = UInt32.max
    private var spare: [Audience] = []
    private static let spareMax = 4096

    /// Adds the state of a new row.
    mutating func add() { states.append(LoneLineup()) }

    /// Moves the state of a lineup at rest here, and keeps its audience's object for another lineup.
    ///
    /// - Parameter index: the audience's index.
    mutating func rest(_ row: Int, _ audience: Audience, _ lineup: Lineup, at index: AudienceIndex) {
        let displayHash = audience.versions.newestDisplayHash
        states[row] = LoneLineup(
            member: audience.order.members[0], number: audience.target, displayHash: displayHash,
            displayHashBefore: displayHash, publishedAt: lineup.publishedAt, rotation: lineup.rotation.resting,
            wakeUp: lineup.wakeUp, spotlight: lineup.publishedSpotlight.map(UInt8.init) ?? .max,
            priority: audience.priority,
            alertCounts: audience.alerts.resting)
        while rows.count <= index.place { rows.append(LoneLineups.none) }
        rows[index.place] = UInt32(row)
        if spare.count < LoneLineups.spareMax { spare.append(audience) }
    }

    /// Gives up the state of a lineup that gets an audience object.
    ///
    /// - Parameter index: the audience's index.
    /// - Returns: the state, its rotation, and an object of a lineup at rest; `nil` if there is none.
    mutating func wake(
        _ row: Int, at index: AudienceIndex
    ) -> (state: LoneLineup, rotation: Rotation.Resting, spare: Audience?) {
        guard let rotation = states[row].rotation.take() else {
            preconditionFailure("a lineup wakes that is awake")
        }
        rows[index.place] = LoneLineups.none
        return (states[row], rotation, spare.popLast())
    }
}
