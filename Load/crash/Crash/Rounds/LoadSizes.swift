/// Topics of a load by how many follow each.
enum TopicGroup: CaseIterable {
    /// Crowds whose sweeps take a while: a large one, which never ends, and others.
    case large, crowd
    /// Topics with some followers, those of lineups, which never end, and topics with one follower.
    case match, favourite, order

    var name: String {
        switch self {
        case .large, .crowd: "crowd"
        case .match: "match"
        case .favourite: "favourite"
        case .order: "order"
        }
    }
}

/// Number of topics of a group at a time, and of the followers of each.
struct GroupSize {
    var topics: Int
    var followers: Int
}

/// Topics of a load, and its lineups.
struct LoadSizes {
    var groups: [TopicGroup: GroupSize] = [
        .large: GroupSize(topics: 1, followers: 2500), .crowd: GroupSize(topics: 3, followers: 200),
        .match: GroupSize(topics: 24, followers: 8), .favourite: GroupSize(topics: 8, followers: 4),
        .order: GroupSize(topics: 120, followers: 1),
    ]
    var lineups = 40
}
