import FanfareModel

/// A push that a phone lacks when a question reaches the shard.
struct Lack {
    enum Thing {
        /// A private end.
        case end
        case start
        /// The newest serial of its topics, and their publications.
        case state(UInt64, [TopicID: Publication])
    }

    let phone: Int
    let thing: Thing
    /// Number of times that the phone had joined an audience.
    let joins: Int
    /// Serial of the newest state if it was refused; `nil` otherwise.
    let refused: UInt64?
}
