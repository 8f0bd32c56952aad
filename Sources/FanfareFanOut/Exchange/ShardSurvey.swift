import FanfareModel
import FanfareQueues

/// A shard's parts, as a survey sees them.
struct ShardSurvey: SurveyedShard {
    let membership: Membership
    let lifecycle: Lifecycle

    var audienceCount: Int { membership.audiences.count }
    var activityCount: Int { membership.store.activities.count }

    func lack(of audience: AudienceIndex) -> AudienceLack? { membership.audiences[audience].lack }

    func tenant(of slot: ActivitySlot) -> UInt32 { membership.store[slot].tenant }

    func duePush(of slot: ActivitySlot) -> DuePush { lifecycle.duePush(of: slot) }

    func unvisitedNews() -> UnvisitedNews { membership.lineups.unvisited() }

    func hasUnvisitedNews(of topic: TopicIndex, through last: NewsNumber) -> Bool {
        membership.lineups.hasUnvisitedNews(of: topic, through: last)
    }
}
