import FanfareModel

/// The state of a push that is due to an activity for another reason than its audience's version: a joiner's first push, a private end, or a start.
enum DuePush {
    case none, pending
    /// The first push of a joiner was refused for good; the activity gets the next version.
    case refused
}

/// A shard as a survey sees it (`Settling`).
protocol SurveyedShard {
    /// Number of indices of audiences.
    var audienceCount: Int { get }
    /// Number of slots of activities.
    var activityCount: Int { get }

    /// Returns the lack of the audience at an index; `nil` if that audience lacks nothing.
    func lack(of audience: AudienceIndex) -> AudienceLack?

    /// Number of the activity that has the slot.
    func tenant(of slot: ActivitySlot) -> UInt32

    /// The state of an activity's push that is due for another reason than its audience's version.
    func duePush(of slot: ActivitySlot) -> DuePush

    /// The news that lineups have not looked at.
    func unvisitedNews() -> UnvisitedNews

    /// Returns whether a topic has news up to that number which some of its lineups have not looked at.
    func hasUnvisitedNews(of topic: TopicIndex, through last: NewsNumber) -> Bool
}
