import FanfareModel

/// The audiences at rest that are a topic's only follower, by index: an order, a ride, a place in a queue. Each follower has its topic's newest
/// version, and nothing is pending. Its audience is a row here, and an object only from the arrival of a version until its push has been answered.
struct RestingFollowers {
    /// Rows by index of the audience; `nil` for an audience that is awake, and for a place of another kind.
    private var rows: [RestingFollower?] = []
    private(set) var count = 0
    /// Objects for waking audiences, left by resting ones.
    private var spare: [Audience] = []
    private static let spareMax = 4096

    subscript(index: AudienceIndex) -> RestingFollower? { index.place < rows.count ? rows[index.place] : nil }

    /// Describes a wrong count, or too many objects for waking audiences; `nil` if there are none.
    func violation() -> String? {
        let resting = rows.count { $0 != nil }
        guard resting == count, spare.count <= RestingFollowers.spareMax else {
            return "\(count) followers at rest are counted, there are \(resting), and \(spare.count) spare objects"
        }
        return nil
    }

    /// - Parameter audience: an audience that `canRest`.
    mutating func rest(_ audience: Audience, at index: AudienceIndex) {
        let place = index.place
        if place >= rows.count { rows.append(contentsOf: repeatElement(nil, count: place + 1 - rows.count)) }
        rows[place] = RestingFollower(
            topic: audience.topics[0], member: audience.order.members[0], number: audience.target,
            freshness: UInt8(audience.times.freshness),
            alerts: audience.alerts.isEmpty ? nil : RestingFollower.Alerts(audience.alerts))
        count += 1
        if spare.count < RestingFollowers.spareMax { spare.append(audience) }
    }

    /// - Parameter latest: returns the latest publication of a topic.
    mutating func wake(_ index: AudienceIndex, trackedMax: Int, latest: (TopicIndex) -> Publication?) -> Audience {
        guard let row = rows[index.place].take() else { preconditionFailure("a follower wakes that does not rest") }
        count -= 1
        let audience = spare.popLast() ?? Audience(topics: [.none], trackedMax: trackedMax)
        audience.wake(row, showing: latest(row.topic))
        return audience
    }
}
