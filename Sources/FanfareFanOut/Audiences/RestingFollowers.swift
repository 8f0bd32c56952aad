import FanfareModel
import FanfareQueues

/// The audiences at rest that are a topic's only follower, by index: an order, a ride, a place in a queue. Each follower has its topic's newest
/// version, and nothing is pending. Its audience is a row here, and an object only from the arrival of a version until its push has been answered.
struct RestingFollowers {
    /// Rows by index of the audience; `nil` for an audience that is awake, and for a place of another kind.
    private var rows = SegmentedArray<RestingFollower?>()
    private(set) var count = 0

    subscript(index: AudienceIndex) -> RestingFollower? { index.place < rows.count ? rows[index.place] : nil }

    /// Describes a wrong count; `nil` if there is none.
    func violation() -> String? {
        let resting = rows.count { $0 != nil }
        guard resting == count else { return "\(count) followers at rest are counted, there are \(resting)" }
        return nil
    }

    mutating func rest(_ row: RestingFollower, at index: AudienceIndex) {
        let place = index.place
        while rows.count <= place { rows.append(nil) }
        rows[place] = row
        count += 1
    }

    /// Removes and returns the row of a follower that wakes.
    mutating func wake(_ index: AudienceIndex) -> RestingFollower {
        guard let row = rows[index.place].take() else { preconditionFailure("a follower wakes that does not rest") }
        count -= 1
        return row
    }
}
