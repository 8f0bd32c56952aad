import FanfareModel
import FanfareQueues

/// States of the lineups of one member, by their rows in `LineupTable`, while they have no audience object.
///
/// States and rows are no secret: `LineupTable` reads and changes single ones for each visit in place.
struct LoneLineups {
    /// States by row. Those of other lineups have no rotation.
    var states = GrowingColumn<LoneLineup>()
    /// Row by index of the audience of a lineup whose state is here; `none` for other audiences.
    private(set) var rows = GrowingColumn<UInt32>()
    static let none = UInt32.max

    /// Adds the state of a new row.
    mutating func add() { states.append(LoneLineup()) }

    /// Takes the state of a lineup whose audience rests from now on.
    ///
    /// - Parameter index: the audience's index.
    mutating func rest(_ state: RestingLineup, at index: AudienceIndex) {
        states[state.row] = LoneLineup(
            member: state.member, number: state.number, displayHash: state.displayHash,
            displayHashBefore: state.displayHash, publishedAt: state.publishedAt, rotation: state.rotation,
            wakeUp: state.wakeUp, spotlight: state.spotlight.map(UInt8.init) ?? .max, priority: state.priority,
            alertCounts: state.alertCounts)
        // Four bytes of each index: a column moves none of them, and writes five million in a few milliseconds.
        let missing = index.place + 1 - rows.count
        if missing > 0 { rows.append(repeating: LoneLineups.none, count: missing) }
        rows[index.place] = UInt32(state.row)
    }

    /// Gives back the state of a lineup whose audience wakes. The flags and the push in flight stay, for the caller.
    ///
    /// - Parameters:
    ///   - pinned: position of the favourite among the lineup's topics.
    ///   - index: the audience's index.
    mutating func wake(_ row: Int, pinned: Int?, at index: AudienceIndex) -> RestingLineup {
        guard let rotation = states[row].rotation.take() else {
            preconditionFailure("a lineup wakes that is awake")
        }
        let state = states[row]
        rows[index.place] = LoneLineups.none
        return RestingLineup(
            row: row, pinned: pinned, member: state.member, number: state.number,
            displayHash: state.displayHash, priority: state.priority, publishedAt: state.publishedAt,
            rotation: rotation, spotlight: state.spotlight == .max ? nil : Int(state.spotlight), wakeUp: state.wakeUp,
            alertCounts: state.alertCounts)
    }
}
