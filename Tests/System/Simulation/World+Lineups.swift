import FanfareDecisions
import FanfareFanOut
import FanfareLineup
import FanfareModel
import Foundation

/// Checks what a lineup's members may be shown, written independently of the engine on the types that apps use.
extension World {
    /// A version of a topic that was sent to a shard.
    struct Told {
        let publication: Publication
        let at: MonotonicTime
        /// Is `true` if the version is sent at once, together with everything that waited.
        var isUrgent: Bool {
            publication.alert != nil || publication.event == .update && publication.priority == .immediate
        }
    }

    /// Longest wait of changes that are not urgent; `dwell` is that of the spotlight.
    private var interval: Duration { options.lineupRules.minimumInterval }
    private var dwell: Duration { options.lineupRules.dwell }
    /// Largest state that `SimulatedFeed.rules` allow.
    private static let sizeMax = TopicRules.pushSizeMax - TopicRules.Content.attributesReserveRange.upperBound

    func judge(
        _ payload: Payload, carrying carried: (topic: TopicID, alert: Alert)?, lineup topics: [TopicID],
        for phone: Phone, from node: Node
    ) -> String? {
        guard payload.state.count <= World.sizeMax.bytes else { return "\(payload.state.count) bytes of a lineup" }
        guard let content = LineupContentState<Match>(payload) else {
            return "no lineup: \(String(decoding: payload.state, as: UTF8.self))"
        }
        let shown = content.topics.map { TopicID($0.id) }
        let rows = content.topics.map { row in
            (id: TopicID(row.id), versions: acceptable(TopicID(row.id), node).filter { $0.isIn(row) })
        }
        guard isOrdered(rows, of: topics), content.kinds == ["football"] else {
            return "topics \(shown) in a lineup of \(topics)"
        }
        let missing = topics.filter { !shown.contains($0) && node.latest[$0] != nil && !mayBeGone($0, node) }
        guard missing.count <= content.more else { return "\(missing) are missing in their lineup" }
        for row in content.topics where !acceptable(TopicID(row.id), node).contains(where: { $0.isIn(row) }) {
            return "not the newest of \(row.id): \(row) (1)"
        }
        guard let spotlight = content.spotlight, shown.indices.contains(spotlight.index) else { return "no spotlight" }
        let spotlightTopic = shown[spotlight.index]
        let highlight = carried?.topic == spotlightTopic ? carried?.alert.highlight : nil
        guard
            acceptable(spotlightTopic, node).contains(where: {
                $0.isIn(content.topics[spotlight.index])
                    && Match($0, highlighting: highlight) == spotlight.state
                    && content.highlight == spotlight.state.highlight
            })
        else { return "the spotlight is not on the newest of \(spotlightTopic): \(spotlight.state) (1)" }

        if let newest = newestAlert(of: topics, node), let since = phone.served.flatMap({ node.lineups[$0] }),
            newest.at > since, newest.at + dwell > moment.monotonic,
            spotlightTopic != newest.publication.topicID, !isOutweighed(newest, topics, node)
        {
            return "\(newest.publication.topicID) has just had an alert and has no spotlight (M2)"
        }
        let someIsLive = shown.contains {
            node.latest[$0]?.event == .update && node.latest[$0]?.prominence.hasBegun == true
        }
        if someIsLive, let ended = node.endedAt[spotlightTopic], ended < phone.last.sentAt,
            let before = phone.lineup.last?.spotlightTopic, before != spotlightTopic
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
        guard options.lineupRules.order == .schedule else { return shown == topics.filter(shown.contains) }
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

    /// Checks that alerts are gathered: two alerts are no closer than `gather`, unless the first push was in flight when
    /// the second alert came, or no other topic was live. Judges only worlds with one activity, because another member of
    /// the lineup may have waited for the first alert.
    func judgeGathering(_ payload: Payload, lineup topics: [TopicID], to phone: Phone, from node: Node) -> String? {
        let gather = options.lineupRules.gather
        guard options.activitiesMax == 1, payload.event == .update, payload.alert != nil, phone.last.alertStandsAlone,
            !phone.last.mayRepeat,
            moment.monotonic < phone.last.sentAt + gather
        else { return nil }
        for topic in topics {
            for told in node.told[topic] ?? [] where told.publication.alert != nil && told.at >= phone.last.sentAt {
                guard topics.contains(where: { $0 != topic && wasLive($0, at: told.at, node) }) else { return nil }
            }
        }
        return "an alert right after another, and nothing gathered them (M1)"
    }

    /// Is `true` if the topic was live before that moment and in everything sent at it.
    private func wasLive(_ topic: TopicID, at time: MonotonicTime, _ node: Node) -> Bool {
        let told = node.told[topic] ?? []
        return told.contains { $0.at < time }
            && told[(told.lastIndex { $0.at < time } ?? 0)...].prefix { $0.at <= time }
                .allSatisfy { $0.publication.event == .update && $0.publication.prominence.hasBegun }
    }

    /// Checks a push after everything published had been sent with the one before: only the rotation can have caused it, so it must be
    /// silent, at priority 5 and within a budget, and a topic must be live.
    func judgeRotation(_ payload: Payload, lineup topics: [TopicID], to index: Int, from node: Node) -> String? {
        let phone = phones[index]
        let newest = topics.compactMap { node.told[$0]?.last?.at }.max() ?? .always
        guard phone.lineup.last != nil, !phone.last.mayRepeat, newest + interval < phone.last.sentAt else { return nil }
        if payload.alert != nil || payload.priority != .conserving { return "the rotation's push is loud" }
        guard topics.contains(where: { node.latest[$0]?.event == .update }) else {
            return "nothing is live, and it rotates"
        }
        phones[index].lineup.rotationPushes += 1
        let size = options.lineupRules.rotationPushes
        let passed = moment.monotonic.nanoseconds(since: phone.following.joinedAt)
        let granted = Int64(size.burst) + passed / size.refill.nanoseconds
        if phones[index].lineup.rotationPushes > granted {
            return "\(phones[index].lineup.rotationPushes) pushes of the rotation's own, \(granted) granted"
        }
        rotationsSeen += 1
        return nil
    }

    /// Returns the newest version of a topic, and earlier ones while all later ones may wait.
    func acceptable(_ topic: TopicID, _ node: Node) -> [Publication] {
        var result: [Publication] = []
        for told in (node.told[topic] ?? []).reversed() {
            result.append(told.publication)
            if told.isUrgent || told.at + interval <= moment.monotonic { break }
        }
        // The core has forgotten the topic, the shard perhaps not.
        if result.isEmpty, let last = node.last(of: topic) { result.append(last) }
        return result
    }

    /// Is `true` if the topic is gone, or was gone until a version came that may wait.
    private func mayBeGone(_ topic: TopicID, _ node: Node) -> Bool {
        node.mayBeUnknown.contains(topic) || hasJustBegun(topic, node)
            || acceptable(topic, node).contains { publication in
                guard publication.event == .end, case .after(let shown)? = publication.dismissal,
                    let told = node.told[topic]?.last(where: { $0.publication.serial == publication.serial })
                else { return false }
                return told.at + shown <= moment.monotonic
            }
    }

    /// Is `true` if every version of the topic may still wait, so that the pushed version may be older.
    private func hasJustBegun(_ topic: TopicID, _ node: Node) -> Bool {
        node.told[topic]?.allSatisfy { !$0.isUrgent && $0.at + interval > moment.monotonic } ?? false
    }

    private func newestAlert(of topics: [TopicID], _ node: Node) -> Told? {
        topics.compactMap { topic in node.told[topic]?.last { $0.publication.alert != nil } }
            .max { $0.publication.serial < $1.publication.serial }
    }

    /// Is `true` if something as weighty has happened since in another topic, even with a demoted alert, or
    /// something weightier was gathered with the alert.
    private func isOutweighed(_ alert: Told, _ topics: [TopicID], _ node: Node) -> Bool {
        let gather = options.lineupRules.gather
        return topics.contains { topic in
            topic != alert.publication.topicID
                && node.told[topic, default: []].contains {
                    let weight = $0.publication.prominence.occasionWeight ?? -1
                    let other = alert.publication.prominence.occasionWeight ?? 0
                    return $0.publication.serial > alert.publication.serial
                        ? weight >= other : weight > other && $0.at + gather > alert.at
                }
        }
    }

    /// Is `true` if the topic was over and is dismissed.
    func isGone(_ topic: TopicID, _ node: Node) -> Bool {
        guard let ended = node.endedAt[topic], case .after(let shown)? = node.latest[topic]?.dismissal else {
            return false
        }
        return ended + shown <= moment.monotonic
    }

    /// Checks after settling that each row shows the newest version of its topic.
    func stale(
        _ accepted: [UInt8], lineup topics: [TopicID], versions: [TopicID: [Publication]], node: Node
    ) -> String? {
        guard let content = try? JSONDecoder().decode(LineupContentState<Match>.self, from: Data(accepted)) else {
            return "no lineup"
        }
        let rows = content.topics.map { row in
            let topic = TopicID(row.id)
            return (id: topic, versions: node.mayBeUnknown.contains(topic) ? [] : versions[topic] ?? [])
        }
        guard isOrdered(rows, of: topics) else { return "\(rows.map(\.id)) of \(topics)" }
        for topic in topics {
            guard let versions = versions[topic], !isGone(topic, node), !node.mayBeUnknown.contains(topic) else {
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
