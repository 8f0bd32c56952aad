/// Topic or lineup that an audience's members show.
public enum AudienceKey: Hashable, Sendable {
    /// One topic: all its followers are one audience.
    case topic(TopicID)
    /// A lineup, in the person's own order. Equal selections share one audience, and so do selections of the same topics and favourite in any order
    /// if the rules order lineups by the schedule.
    ///
    /// The spotlight rests on `favourite` while that topic is live.
    case lineup([TopicID], favourite: TopicID? = nil)

    /// Maximum of topics in one lineup, far above the number that a person can follow and a content state has room for.
    package static let topicsMax = 64

    package var topics: [TopicID] {
        switch self {
        case .topic(let topic): [topic]
        case .lineup(let topics, _): topics
        }
    }
}
