/// Topics of a load, and how many follow each.
extension Load {
    enum Group: CaseIterable {
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
    struct Size {
        var topics: Int
        var followers: Int
    }

    struct Sizes {
        var groups: [Group: Size] = [
            .large: Size(topics: 1, followers: 2500), .crowd: Size(topics: 3, followers: 200),
            .match: Size(topics: 24, followers: 8), .favourite: Size(topics: 8, followers: 4),
            .order: Size(topics: 120, followers: 1),
        ]
        var lineups = 40
    }
}
