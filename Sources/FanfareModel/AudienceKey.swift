/// What an audience's members look at.
public enum AudienceKey: Hashable, Sendable {
    /// All who follow one topic.
    case topic(TopicID)
    /// In the person's own order; equal choices share one audience.
    ///
    /// The spotlight rests on `favourite` whenever that is live.
    case lineup([TopicID], favourite: TopicID? = nil)

    package var topics: [TopicID] {
        switch self {
        case .topic(let topic): [topic]
        case .lineup(let topics, _): topics
        }
    }
}
