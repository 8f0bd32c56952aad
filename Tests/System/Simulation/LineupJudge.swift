import FanfareDecisions
import FanfareFanOut
import FanfareLineup
import FanfareModel
import Foundation

/// Judges what a lineup's members are shown at a moment, independently of the engine and on the types that apps use.
struct LineupJudge {
    let rules: LineupRules
    let published: PublishedTopics
    let now: MonotonicTime

    /// Longest wait of changes that are not urgent; `dwell` is that of the spotlight.
    private var interval: Duration { rules.minimumInterval }
    private var dwell: Duration { rules.dwell }
    /// Largest state that `SimulatedFeed.rules` allow.
    private static let sizeMax = TopicRules.pushSizeMax - TopicRules.Content.attributesReserveRange.upperBound

    func judge(
        _ payload: Payload, carrying carried: (topic: TopicID, alert: Alert)?, lineup topics: [TopicID],
        for phone: Phone, after history: PushHistory
    ) -> String? {
        guard payload.state.count <= LineupJudge.sizeMax.bytes else {
            return "\(payload.state.count) bytes of a lineup"
        }
        guard let content = LineupContentState<Match>(payload) else {
            return "no lineup: \(String(decoding: payload.state, as: UTF8.self))"
        }
        let shown = content.topics.map { TopicID($0.id) }
        let rows = content.topics.map { row in
            (id: TopicID(row.id), versions: acceptable(TopicID(row.id)).filter { $0.isIn(row) })
        }
        guard isOrdered(rows, of: topics), content.kinds == ["football"] else {
            return "topics \(shown) in a lineup of \(topics)"
        }
        let missing = topics.filter { !shown.contains($0) && published.latest[$0] != nil && !mayBeGone($0) }
        guard missing.count <= content.more else { return "\(missing) are missing in their lineup" }
        for row in content.topics where !acceptable(TopicID(row.id)).contains(where: { $0.isIn(row) }) {
            return "not the newest of \(row.id): \(row) (1)"
        }
        guard let spotlight = content.spotlight, shown.indices.contains(spotlight.index) else { return "no spotlight" }
        let spotlightTopic = shown[spotlight.index]
        let highlight = carried?.topic == spotlightTopic ? carried?.alert.highlight : nil
        guard
            acceptable(spotlightTopic).contains(where: {
                $0.isIn(content.topics[spotlight.index])
                    && Match($0, highlighting: highlight) == spotlight.state
                    && content.highlight == spotlight.state.highlight
            })
        else { return "the spotlight is not on the newest of \(spotlightTopic): \(spotlight.state) (1)" }

        if let newest = newestAlert(of: topics), let since = phone.served.flatMap({ published.lineups[$0] }),
            newest.at > since, newest.at + dwell > now,
            spotlightTopic != newest.publication.topicID, !isOutweighed(newest, topics)
        {
            return "\(newest.publication.topicID) has just had an alert and has no spotlight (M2)"
        }
        let someIsLive = shown.contains {
            published.latest[$0]?.event == .update && published.latest[$0]?.prominence.hasBegun == true
        }
        if someIsLive, let ended = published.endedAt[spotlightTopic], ended < history.last.sentAt,
            let before = history.lineup.last?.spotlightTopic, before != spotlightTopic
        {
            return "the spotlight goes to \(spotlightTopic), which was over before (M2)"
        }
        return nil
    }

    /// Is `true` if rows are some of the lineup's topics, in the order of the person's selection or, by the rules, of the schedule.
    ///
    /// - Parameter rows: topics, each with the versions of which one is shown; none if they are not known.
    private func isOrdered(_ rows: [(id: TopicID, versions: [Publication])], of topics: [TopicID]) -> Bool {
        let shown = rows.map(\.id)
        guard rules.order == .schedule else { return shown == topics.filter(shown.contains) }
        guard Set(shown).count == shown.count, Set(shown).isSubset(of: topics) else { return false }
        var last: (time: Int64, id: String) = (.min, "")
        for row in rows where !row.versions.isEmpty {
            // The earliest time that a version allows leaves the most to the rows that follow.
            let times = row.versions.map { $0.scheduledAt?.milliseconds ?? .max }.sorted()
            guard let time = times.first(where: { last < ($0, row.id.rawValue) }) else { return false }
            last = (time, row.id.rawValue)
        }
        return true
    }

    /// Checks that alerts are gathered: a push with an alert leaves no sooner than `gather` after an accepted one with an alert, unless an
    /// alert came while that one was in flight, or an alert has come since at a moment when no other topic of the lineup was live. A caller
    /// asks only about a lineup with one member, because another member may have waited for the first alert.
    func gathering(_ payload: Payload, lineup topics: [TopicID], after last: LastPush) -> String? {
        guard payload.event == .update, payload.alert != nil, last.alertStandsAlone, !last.mayRepeat,
            now < last.sentAt + rules.gather
        else { return nil }
        for topic in topics {
            for told in published.told[topic] ?? [] where told.publication.alert != nil && told.at >= last.sentAt {
                guard topics.contains(where: { $0 != topic && wasLive($0, at: told.at) }) else { return nil }
            }
        }
        return "an alert right after another, and nothing gathered them (M1)"
    }

    /// Is `true` if the topic was live before that moment and in everything sent at it.
    private func wasLive(_ topic: TopicID, at time: MonotonicTime) -> Bool {
        let told = published.told[topic] ?? []
        return told.contains { $0.at < time }
            && told[(told.lastIndex { $0.at < time } ?? 0)...].prefix { $0.at <= time }
                .allSatisfy { $0.publication.event == .update && $0.publication.prominence.hasBegun }
    }

    /// Is `true` if everything published had been sent with the push before this one: only the rotation can have caused it.
    func isRotation(_ topics: [TopicID], after history: PushHistory) -> Bool {
        let newest = topics.compactMap { published.told[$0]?.last?.at }.max() ?? .always
        return history.lineup.last != nil && !history.last.mayRepeat && newest + interval < history.last.sentAt
    }

    /// Returns the newest version of a topic, and earlier ones while all later ones may wait.
    func acceptable(_ topic: TopicID) -> [Publication] {
        var result: [Publication] = []
        for told in (published.told[topic] ?? []).reversed() {
            result.append(told.publication)
            if told.isUrgent || told.at + interval <= now { break }
        }
        // The core has forgotten the topic, the shard perhaps not.
        if result.isEmpty, let last = published.last(of: topic) { result.append(last) }
        return result
    }

    /// Is `true` if the topic is gone, or was gone until a version came that may wait.
    private func mayBeGone(_ topic: TopicID) -> Bool {
        published.mayBeUnknown.contains(topic) || hasJustBegun(topic)
            || acceptable(topic).contains { publication in
                guard publication.event == .end, case .after(let shown)? = publication.dismissal,
                    let told = published.told[topic]?.last(where: { $0.publication.serial == publication.serial })
                else { return false }
                return told.at + shown <= now
            }
    }

    /// Is `true` if every version of the topic may still wait, so that the pushed version may be older.
    private func hasJustBegun(_ topic: TopicID) -> Bool {
        published.told[topic]?.allSatisfy { !$0.isUrgent && $0.at + interval > now } ?? false
    }

    private func newestAlert(of topics: [TopicID]) -> PublishedTopics.Told? {
        topics.compactMap { topic in published.told[topic]?.last { $0.publication.alert != nil } }
            .max { $0.publication.serial < $1.publication.serial }
    }

    /// Is `true` if something as weighty has happened since in another topic, even with a demoted alert, or
    /// something weightier was gathered with the alert.
    private func isOutweighed(_ alert: PublishedTopics.Told, _ topics: [TopicID]) -> Bool {
        let gather = rules.gather
        return topics.contains { topic in
            topic != alert.publication.topicID
                && published.told[topic, default: []].contains {
                    let weight = $0.publication.prominence.occasionWeight ?? -1
                    let other = alert.publication.prominence.occasionWeight ?? 0
                    return $0.publication.serial > alert.publication.serial
                        ? weight >= other : weight > other && $0.at + gather > alert.at
                }
        }
    }

    /// Is `true` if the topic was over and is dismissed.
    func isGone(_ topic: TopicID) -> Bool {
        guard let ended = published.endedAt[topic], case .after(let shown)? = published.latest[topic]?.dismissal else {
            return false
        }
        return ended + shown <= now
    }

    /// Checks after settling that each row shows the newest version of its topic.
    func stale(
        _ accepted: [UInt8], lineup topics: [TopicID], versions: [TopicID: [Publication]]
    ) -> String? {
        guard let content = try? JSONDecoder().decode(LineupContentState<Match>.self, from: Data(accepted)) else {
            return "no lineup"
        }
        let rows = content.topics.map { row in
            let topic = TopicID(row.id)
            return (id: topic, versions: published.mayBeUnknown.contains(topic) ? [] : versions[topic] ?? [])
        }
        guard isOrdered(rows, of: topics) else { return "\(rows.map(\.id)) of \(topics)" }
        for topic in topics {
            guard let versions = versions[topic], !isGone(topic), !published.mayBeUnknown.contains(topic) else {
                continue
            }
            guard let position = content.topics.firstIndex(where: { $0.id == topic.rawValue }) else {
                if content.more > 0 { continue }
                return "nothing of \(topic)"
            }
            guard versions.contains(where: { $0.isIn(content.topics[position]) }) else {
                return "\(content.topics[position]) of \(topic)"
            }
            guard let spotlight = content.spotlight, spotlight.index == position else { continue }
            guard versions.contains(where: { Match($0, highlighting: spotlight.state.highlight) == spotlight.state })
            else {
                return "\(spotlight.state) in the spotlight"
            }
        }
        return nil
    }
}
