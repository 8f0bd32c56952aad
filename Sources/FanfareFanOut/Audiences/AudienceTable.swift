import FanfareModel

/// The audiences of a shard by index. Indices of removed audiences are reused.
struct AudienceTable {
    /// The audiences, with placeholders for free and resting ones.
    private(set) var rows: [Audience] = []
    /// Placeholder for a freed audience, until its index is reused.
    let vacant = Audience(topics: [], trackedMax: 1)
    /// Placeholder for a lineup at rest, whose state is in the table of lineups.
    let resting: Audience
    /// Placeholder for a topic's only follower at rest, whose state is in `followers`. It has a member, too, so that it counts as an audience
    /// of one.
    let restingFollower = Audience(topics: [.none], trackedMax: 1)
    private(set) var followers = RestingFollowers()
    /// Indices of audiences whose last member has left.
    private var freeRows: [AudienceIndex] = []
    /// Index of the audience with the most members. It may be stale after that audience shrinks, until the audience has half of its members or
    /// another audience changes.
    private var largest = AudienceIndex(0)
    /// Maximum number of members that the largest audience has had since the last comparison of all audiences.
    private var largestPeak = 0
    /// Minimum of `largestPeak` for a comparison of all audiences, which reads each of them. Smaller audiences are noted with their next change.
    static let comparedMin = 1024

    init(_ rules: LineupRules) {
        resting = Audience(
            topics: [], lineup: Lineup(rotation: Rotation(rules, at: .always)), trackedMax: 1)
        restingFollower.order.rest(ActivitySlot(.max))
    }

    var count: Int { rows.count }
    var indices: some Sequence<AudienceIndex> { rows.indices.lazy.map { AudienceIndex($0) } }
    var isEmpty: Bool { rows.isEmpty }

    subscript(index: AudienceIndex) -> Audience {
        get { rows[index.place] }
        set { rows[index.place] = newValue }
    }

    mutating func insert(_ audience: Audience) -> AudienceIndex {
        if let reused = freeRows.popLast() {
            rows[reused.place] = audience
            return reused
        }
        rows.append(audience)
        return AudienceIndex(rows.count - 1)
    }

    /// Puts a topic's only follower to rest, and keeps its object for another one.
    mutating func restFollower(_ index: AudienceIndex) {
        followers.rest(rows[index.place], at: index)
        rows[index.place] = restingFollower
    }

    /// Ends the rest of a topic's only follower.
    ///
    /// - Parameter latest: returns the latest publication of a topic, by its index.
    mutating func wakeFollower(
        _ index: AudienceIndex, trackedMax: Int, latest: (TopicIndex) -> Publication?
    ) -> Audience {
        let audience = followers.wake(index, trackedMax: trackedMax, latest: latest)
        rows[index.place] = audience
        return audience
    }

    mutating func free(_ index: AudienceIndex) {
        rows[index.place] = vacant
        freeRows.append(index)
    }

    /// Number of members of the largest audience.
    var largestCount: Int { largest.place < rows.count ? self[largest].order.count : 0 }

    /// Notes that the audience may be the largest now.
    mutating func noteSize(_ audience: Audience, at index: AudienceIndex) {
        if audience.order.count > self[largest].order.count { largest = index }
        largestPeak = max(largestPeak, self[largest].order.count)
    }

    /// Notes that a member has left an audience. Another one may be the largest when this one has lost half of its members.
    mutating func noteLoss(at index: AudienceIndex) {
        guard index == largest, largestPeak >= AudienceTable.comparedMin, self[largest].order.count <= largestPeak / 2
        else { return }
        for other in indices where self[other].order.count > self[largest].order.count { largest = other }
        largestPeak = self[largest].order.count
    }

    func violation() -> String? {
        let vacantCount = rows.count { $0 === vacant }
        guard vacantCount == freeRows.count else {
            return "\(freeRows.count) places of audiences are free, others are vacant"
        }
        let atRest = indices.filter { self[$0] === restingFollower }
        guard followers.count == atRest.count, atRest.allSatisfy({ followers[$0] != nil }) else {
            return "\(atRest.count) followers rest, \(followers.count) are listed"
        }
        return followers.violation()
    }
}
