import FanfareFanOut
import FanfareModel

/// Judges a state against the newest one for members of the audience, independently of the engine and as plainly as possible.
struct StateJudge {
    /// The judge of what lineups show at the same moment.
    let lineups: LineupJudge

    var published: PublishedTopics { lineups.published }

    /// Judges the state of a push.
    ///
    /// - Parameter carried: the alert of the push that highlights what has changed, and its topic.
    func judge(
        _ payload: Payload, carrying carried: (topic: TopicID, alert: Alert)?, shown audience: AudienceKey,
        for phone: Phone, after history: PushHistory
    ) -> String? {
        switch audience {
        case .topic(let topic):
            guard let newest = published.newest(topic, for: phone.following) else { return "a state of nothing" }
            let state = carried?.alert.highlight.map(newest.state.highlighting) ?? newest.state.bytes
            guard payload.state == state else {
                return "not the newest state: \(String(decoding: payload.state, as: UTF8.self)) (1)"
            }
            return nil
        case .lineup(let topics, _):
            return lineups.judge(payload, carrying: carried, lineup: topics, for: phone, after: history)
        }
    }

    /// Is `true` if the audience is over and the shard must know it. In a lineup, the last end may wait for the interval, and a topic that
    /// the shard may have forgotten does not count.
    func isSeenToBeOver(_ audience: AudienceKey, for following: Following) -> Bool {
        guard published.isOver(audience, for: following) else { return false }
        guard case .lineup(let topics, _) = audience else { return true }
        return topics.allSatisfy {
            !published.mayBeUnknown.contains($0) && lineups.acceptable($0).allSatisfy { $0.event == .end }
        }
    }

    /// Checks that the accepted state is the newest version, apart from the highlighted key, which follows the alert.
    func stale(_ accepted: [UInt8], for following: Following, beside audience: AudienceKey) -> String? {
        var newest: [TopicID: [Publication]] = [:]
        for topic in audience.topics { newest[topic] = published.newest(topic, for: following).map { [$0] } }
        return stale(accepted, beside: audience, versions: newest)
    }

    /// - Parameter versions: acceptable versions of each topic, the newest last.
    func stale(
        _ accepted: [UInt8], beside audience: AudienceKey, versions: [TopicID: [Publication]]
    ) -> String? {
        switch audience {
        case .topic(let topic):
            guard let versions = versions[topic], let newest = versions.last else { return nil }
            let keys = [
                "homeScore", "awayScore", "homeYellow", "awayYellow", "homeRed", "awayRed", "period", "lastEvent",
            ]
            if versions.contains(where: { version in keys.contains { version.state.highlighting($0) == accepted } }) {
                return nil
            }
            return
                "\(String(decoding: accepted, as: UTF8.self)), not \(String(decoding: newest.state.bytes, as: UTF8.self))"
        case .lineup(let topics, _): return lineups.stale(accepted, lineup: topics, versions: versions)
        }
    }
}
