import FanfareModel

/// An id may come again after its topic is over, because the rules begin it afresh or the core has forgotten it. Each use is a tenure. A
/// phone that follows a tenure sees nothing of the next one; a phone that follows after its end waits for the next.
extension World.Node {
    struct Tenure: Hashable {
        let topic: TopicID
        let number: Int
    }

    private func isOver(_ topic: TopicID) -> Bool {
        latest[topic].map { $0.freesID || forgotten.contains(topic) } ?? false
    }

    /// Returns the tenure that a new follower of the topic sees.
    func tenure(of topic: TopicID) -> Int { tenures[topic, default: 0] + (isOver(topic) ? 1 : 0) }

    func note(_ publication: Publication, at now: MonotonicTime) {
        let topic = publication.topicID
        let tenure = tenure(of: topic)
        tenures[topic] = tenure
        latest[topic] = publication
        lastOfTenure[Tenure(topic: topic, number: tenure)] = publication
        told[topic, default: []].append(World.Told(publication: publication, at: now))
        endedAt[topic] = publication.event == .end ? now : nil
        forgotten.remove(topic)
        mayBeUnknown.remove(topic)
        published[publication.serial] = (topic, now)
        lanes.cursorBegins(
            over: lineups.keys.count { $0.topics.contains(topic) },
            most: lineups.keys.reduce(0) { $0 + $1.topics.count })
        waitingLineups = waitingLineups.filter { !$0.topics.contains(topic) }
    }

    /// Drops a forgotten topic that no phone shows.
    func drop(_ topic: TopicID) {
        tenures[topic] = tenure(of: topic)
        (latest[topic], told[topic], endedAt[topic]) = (nil, nil, nil)
    }

    /// Returns the last publication of the topic, even if it was forgotten.
    func last(of topic: TopicID) -> Publication? {
        guard let tenure = tenures[topic] else { return nil }
        return lastOfTenure[Tenure(topic: topic, number: tenure)]
            ?? lastOfTenure[Tenure(topic: topic, number: tenure - 1)]
    }

    /// Returns the newest publication of a topic that the phone is to see.
    func newest(_ topic: TopicID, for phone: Phone) -> Publication? {
        switch phone.served {
        case .topic: lastOfTenure[Tenure(topic: topic, number: phone.following.tenure)]
        case .lineup, nil: latest[topic]
        }
    }

    /// Is `true` if there is something that the phone is to see.
    func hasNews(for phone: Phone) -> Bool {
        guard let served = phone.served, !waitingLineups.contains(served) else { return false }
        if case .lineup(let topics, _) = served {
            return topics.contains { latest[$0] != nil && !mayBeUnknown.contains($0) }
        }
        return served.topics.contains { newest($0, for: phone) != nil }
    }

    /// Is `true` if new publications of the topic are meant for the phone.
    func shows(_ topic: TopicID, to phone: Phone) -> Bool {
        switch phone.served {
        case .topic(topic): phone.following.tenure == tenures[topic]
        case .lineup(let topics, _): topics.contains(topic)
        default: false
        }
    }

    /// Is `true` if members of the audience wait for something new because all its topics are over. A lineup
    /// with earlier members keeps its state instead.
    func isWaited(_ audience: AudienceKey) -> Bool {
        guard lineups[audience] == nil else { return waitingLineups.contains(audience) }
        return audience.topics.allSatisfy(isOver)
            || audience.topics.allSatisfy { forgotten.contains($0) || latest[$0] == nil }
    }

    /// Notes the first member of a lineup.
    func begin(_ lineup: AudienceKey, at now: MonotonicTime) {
        if isWaited(lineup) { waitingLineups.insert(lineup) }
        lineups[lineup] = now
    }
}
