import FanfareModel

/// The audiences at rest that are a topic's only follower, by index: an order, a ride, a place in a queue. Each follower has its topic's newest
/// version, and nothing is pending. Its audience is a row here, and an object only from the arrival of a version until its push has been answered.
struct RestingFollowers {
    /// Rows by index of the audience, in segments; `nil` for an audience that is awake, and for a place of another kind. A segment is empty until one
    /// of its rows rests: the first follower that rests may have an index of millions.
    private var segments: [[RestingFollower?]] = []
    private(set) var count = 0
    /// Logarithm of a segment's number of rows, which take 24 KB.
    private static let segmentBits = 10
    private static let segmentCapacity = 1 << segmentBits

    subscript(index: AudienceIndex) -> RestingFollower? {
        let (segment, row) = RestingFollowers.place(of: index)
        guard segment < segments.count, !segments[segment].isEmpty else { return nil }
        return segments[segment][row]
    }

    /// Returns the segment of an audience's row, and the row's place there.
    private static func place(of index: AudienceIndex) -> (segment: Int, row: Int) {
        (index.place >> segmentBits, index.place & (segmentCapacity - 1))
    }

    // For checks.
    /// Number of segments that have rows.
    var madeCount: Int { segments.count { !$0.isEmpty } }

    /// Describes a wrong count; `nil` if there is none.
    func violation() -> String? {
        let resting = segments.joined().count { $0 != nil }
        guard resting == count else { return "\(count) followers at rest are counted, there are \(resting)" }
        return nil
    }

    mutating func rest(_ row: RestingFollower, at index: AudienceIndex) {
        let (segment, place) = RestingFollowers.place(of: index)
        while segments.count <= segment { segments.append([]) }
        if segments[segment].isEmpty {
            segments[segment] = Array(repeating: nil, count: RestingFollowers.segmentCapacity)
        }
        segments[segment][place] = row
        count += 1
    }

    /// Removes and returns the row of a follower that wakes.
    mutating func wake(_ index: AudienceIndex) -> RestingFollower {
        let (segment, place) = RestingFollowers.place(of: index)
        guard let row = segments[segment][place].take() else {
            preconditionFailure("a follower wakes that does not rest")
        }
        count -= 1
        return row
    }
}
