import FanfareModel

/// Matches that have been played.
struct MatchHistory {
    /// Is `true` if the rules begin a match afresh that comes back.
    let beginsAfresh: Bool
    /// Matches that have ended, the newest last; `forgotten`, `reopened` and `reborn` have those that the core forgot, that came back
    /// before that, and that came back after it.
    var over: [TopicID] = []
    var forgotten: Set<TopicID> = []
    var reopened: Set<TopicID> = []
    var reborn: Set<TopicID> = []
    /// Number of matches that came back.
    var comebacks = 0
    /// Topics that were published and not forgotten since.
    var kept: Set<TopicID> = []
    /// Time of the feed's end event, for matches that are over.
    var endedAt: [TopicID: FeedTime] = [:]
}
