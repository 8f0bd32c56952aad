import FanfareModel

/// The audiences of a shard by index. Indices of audiences that are no more are reused.
struct AudienceTable {
    /// The audiences, with placeholders for those that are free or at rest.
    private(set) var rows: [Audience] = []
    /// Placeholder for a freed audience, until its index is reused.
    let vacant = Audience(topics: [], openMax: 1)
    /// Placeholder for a lineup at rest, whose state is in the table of lineups.
    let resting: Audience
    /// Indices of audiences whose last member has left.
    private var freeRows: [Int] = []
    /// Index of the audience with the most members. It may be stale after that one shrinks, until another audience changes.
    private var largest = 0

    init(_ rules: LineupRules) {
        resting = Audience(
            topics: [], lineup: Lineup(rotation: Rotation(rules, at: FeedTime(milliseconds: 0))), openMax: 1)
    }

    var count: Int { rows.count }
    var indices: Range<Int> { rows.indices }
    var isEmpty: Bool { rows.isEmpty }

    subscript(index: Int) -> Audience {
        get { rows[index] }
        set { rows[index] = newValue }
    }

    mutating func insert(_ audience: Audience) -> Int {
        if let reused = freeRows.popLast() {
            rows[reused] = audience
            return reused
        }
        rows.append(audience)
        return rows.count - 1
    }

    mutating func free(_ index: Int) {
        rows[index] = vacant
        freeRows.append(index)
    }

    /// Number of members of the largest audience.
    var largestCount: Int { largest < rows.count ? rows[largest].order.count : 0 }

    /// Notes that the audience may be the largest now.
    mutating func noteSize(_ audience: Audience, at index: Int) {
        if audience.order.count > rows[largest].order.count { largest = index }
    }

    func violation() -> String? {
        let vacantCount = rows.count { $0 === vacant }
        guard vacantCount == freeRows.count else {
            return "\(freeRows.count) places of audiences are free, others are vacant"
        }
        return nil
    }
}
