import FanfareModel

/// The reason for which a shard does not carry out a command for an activity. A known activity stays as it was.
public enum CommandRefusal: Sendable, Hashable, CustomStringConvertible {
    /// The update or start token is empty or has more than 512 bytes.
    case token
    /// A topic's id is empty or has more than 512 bytes.
    case topic
    /// A lineup is empty, too long, or has a topic twice.
    case lineup
    /// The shard has no room for another topic that is followed before its first publication.
    case tooManyTopics
    /// The activity is unknown or gone.
    case unknownActivity

    /// The refusal and its bound, in a few words for people.
    public var description: String {
        switch self {
        case .token: "a token is 1 to \(Subscription.tokenSizeMax)"
        case .topic: "a topic's id is 1 to \(TopicID.sizeMax) of UTF-8"
        case .lineup: "a lineup has 1 to \(AudienceKey.topicsMax) topics, each of them once"
        case .tooManyTopics: "too many topics are followed of which nothing has come yet"
        case .unknownActivity: "no activity of this name is known, or it is gone"
        }
    }
}

extension CommandRefusal {
    /// The refusal of a token; `nil` if the token has a valid length.
    init?(token: [UInt8]) {
        guard !(1...Subscription.tokenSizeMax.bytes).contains(token.count) else { return nil }
        self = .token
    }
}

extension TopicID {
    var isValid: Bool { (1...TopicID.sizeMax.bytes).contains(rawValue.utf8.count) }
}
