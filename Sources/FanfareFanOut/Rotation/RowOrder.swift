/// The order of a lineup's rows: by the times for which its topics are scheduled, then by position. In the person's own order all times are
/// equal, so the rows stand as the topics do. By the schedule, positions are in the order of the ids.
///
/// A visit finds the order anew, so a changed time costs nothing before the lineup is visited.
struct RowOrder {
    /// Positions of the topics in the lineup's selection, the first row first. The array is kept, so that a visit allocates nothing.
    private(set) var positions: [UInt8] = []
    /// Is `true` when each position stands at its own place. Most lineups are in this order, and the array need not be restored for the next lineup.
    private var isPlain = true

    /// Lets each topic stand at its own place.
    @inline(__always)
    mutating func stand(_ count: Int) {
        guard !isPlain || positions.count != count else { return }
        positions.removeAll(keepingCapacity: true)
        positions.append(contentsOf: 0..<UInt8(truncatingIfNeeded: count))
        isPlain = true
    }

    /// - Parameters:
    ///   - count: number of topics, at most `AudienceKey.topicsMax`.
    ///   - scheduledAt: returns the time of the topic at a position (`SpotlightCandidate`).
    @inline(__always)
    mutating func sort(_ count: Int, scheduledAt: (Int) -> UInt32) {
        stand(count)
        // Lineups are small, and few rows stand elsewhere.
        for position in 0..<count {
            var place = position
            while place > 0, scheduledAt(Int(positions[place - 1])) > scheduledAt(Int(positions[place])) {
                positions.swapAt(place - 1, place)
                place -= 1
                isPlain = false
            }
        }
    }
}
