import FanfareModel
import FanfareQueues

/// The audiences of a shard by index. Indices of removed audiences are reused.
struct AudienceTable {
    /// The audiences, with placeholders for free and resting ones.
    private(set) var rows = SegmentedArray<Audience>()
    /// Placeholder for a freed audience, until its index is reused.
    let vacant = Audience(topics: [], trackedMax: 1)
    /// Placeholder for a lineup at rest, whose state is in the table of lineups.
    let resting: Audience
    /// Placeholder for a topic's only follower at rest, whose state is in `followers`. It has a member, too, so that it counts as an audience
    /// of one.
    let restingFollower = Audience(topics: [.none], trackedMax: 1)
    private(set) var followers = RestingFollowers()
    /// Objects for audiences that wake, left by audiences that rest: of topics' only followers, and of lineups. They are arrays, which have at most
    /// `spareMax` elements.
    private var spareFollowers: [Audience] = []
    private var spareLineups: [Audience] = []
    private static let spareMax = 4096
    /// Number of audiences so far, each of which is a tenant of its place from `insert` or from its waking on.
    private var tenants: UInt64 = 0
    /// Indices of audiences whose last member has left.
    private var freeRows = SegmentedArray<AudienceIndex>()
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
        restingFollower.wake(
            RestingFollower(topic: .none, member: ActivitySlot(.max), number: 0, freshness: 0, alerts: nil),
            showing: nil)
    }

    var count: Int { rows.count }
    var indices: some Sequence<AudienceIndex> { rows.indices.lazy.map { AudienceIndex($0) } }
    var isEmpty: Bool { rows.isEmpty }
    /// Number of audiences that are objects, because they are not at rest.
    var awakeCount: Int { rows.count { $0 !== vacant && $0 !== resting && $0 !== restingFollower } }

    subscript(index: AudienceIndex) -> Audience {
        get { rows[index.place] }
        set { rows[index.place] = newValue }
    }

    /// The audience that has a place now.
    func tenant(at index: AudienceIndex) -> AudienceTenant {
        AudienceTenant(index: index, number: rows[index.place].tenant)
    }

    /// Returns the audience if it still has its place; otherwise `nil`.
    func find(_ tenant: AudienceTenant) -> Audience? {
        let audience = rows[tenant.index.place]
        return audience.tenant == tenant.number ? audience : nil
    }

    mutating func insert(_ audience: Audience) -> AudienceIndex {
        serveAnother(audience)
        if let reused = freeRows.popLast() {
            rows[reused.place] = audience
            return reused
        }
        rows.append(audience)
        return AudienceIndex(rows.count - 1)
    }

    /// Makes an object serve an audience that it has not served before.
    private mutating func serveAnother(_ audience: Audience) {
        tenants += 1
        audience.serve(as: tenants)
    }

    /// Puts a topic's only follower to rest, and keeps its object for another one.
    mutating func restFollower(_ index: AudienceIndex) {
        let audience = rows[index.place]
        followers.rest(audience.restingFollower, at: index)
        if spareFollowers.count < AudienceTable.spareMax { spareFollowers.append(audience) }
        rows[index.place] = restingFollower
    }

    /// Ends the rest of a topic's only follower.
    ///
    /// - Parameter latest: returns the latest publication of a topic, by its index.
    mutating func wakeFollower(
        _ index: AudienceIndex, trackedMax: Int, latest: (TopicIndex) -> Publication?
    ) -> Audience {
        let row = followers.wake(index)
        let audience = spareFollowers.popLast() ?? Audience(topics: [.none], trackedMax: trackedMax)
        serveAnother(audience)
        audience.wake(row, showing: latest(row.topic))
        rows[index.place] = audience
        return audience
    }

    /// Puts the audience of a lineup to rest, whose state the caller keeps, and keeps its object for another one.
    mutating func restLineup(_ index: AudienceIndex) {
        if spareLineups.count < AudienceTable.spareMax { spareLineups.append(rows[index.place]) }
        rows[index.place] = resting
    }

    /// Ends the rest of a lineup's audience.
    ///
    /// - Parameters:
    ///   - topics: the topics of the lineup, in order.
    ///   - latest: the publication of the topic in the spotlight.
    /// - Returns: an audience whose only member has the newest version, or whose push in flight the caller adds.
    mutating func wakeLineup(
        _ index: AudienceIndex, as state: RestingLineup, _ topics: some Collection<TopicIndex>,
        showing latest: Publication?, _ rules: LineupRules, trackedMax: Int
    ) -> Audience {
        let audience =
            spareLineups.popLast()
            ?? Audience(
                topics: [], lineup: Lineup(rotation: Rotation(state.rotation, rules, pinned: nil)),
                trackedMax: trackedMax)
        serveAnother(audience)
        audience.wake(state, topics, showing: latest, rules)
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
        // Most of a million audiences rest. A topic's only follower at rest counts as an audience of one.
        var most = self[largest].order.count
        for (place, audience) in rows.enumerated()
        where audience !== resting && audience !== vacant {
            let count = audience.order.count
            guard count > most else { continue }
            (largest, most) = (AudienceIndex(place), count)
        }
        largestPeak = most
    }

    func violation() -> String? {
        let vacantCount = rows.count { $0 === vacant }
        guard vacantCount == freeRows.count else {
            return "\(freeRows.count) places of audiences are free, others are vacant"
        }
        let served = rows.filter { $0.tenant > 0 }
        guard served.count == Set(served.map(\.tenant)).count, served.allSatisfy({ $0.tenant <= tenants }),
            max(spareFollowers.count, spareLineups.count) <= AudienceTable.spareMax
        else { return "\(served.count) audiences of \(tenants) have numbers of others, or too many objects wait" }
        let atRest = indices.filter { self[$0] === restingFollower }
        guard followers.count == atRest.count, atRest.allSatisfy({ followers[$0] != nil }) else {
            return "\(atRest.count) followers rest, \(followers.count) are listed"
        }
        return followers.violation()
    }
}
