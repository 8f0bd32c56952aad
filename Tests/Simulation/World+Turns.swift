import FanfareModel

/// An id may come again: for what comes under it after a topic that is over, because its rules begin it afresh or the core has forgotten
/// it. Each time is a turn of its own. Who follows a turn sees nothing of the next one; who follows when it is over waits for that.
extension World.Node {
    struct Turn: Hashable {
        let topic: TopicID
        let number: Int
    }

    private func isOver(_ topic: TopicID) -> Bool {
        latest[topic].map { $0.freesID || forgotten.contains(topic) } ?? false
    }

    /// Which turn whoever follows the topic from now on is to see.
    func turn(of topic: TopicID) -> Int { turns[topic, default: 0] + (isOver(topic) ? 1 : 0) }

    func note(_ publication: Publication, at now: Int64) {
        let topic = publication.topicID
        let turn = turn(of: topic)
        turns[topic] = turn
        latest[topic] = publication
        lastOfTurn[Turn(topic: topic, number: turn)] = publication
        told[topic, default: []].append(World.Told(publication: publication, at: now))
        endedAt[topic] = publication.event == .end ? now : nil
        forgotten.remove(topic)
        mayBeUnknown.remove(topic)
        published[publication.serial] = (topic, now)
        waitingLineups = waitingLineups.filter { !$0.topics.contains(topic) }
    }

    /// Nobody looks at what the core has forgotten.
    func drop(_ topic: TopicID) {
        turns[topic] = turn(of: topic)
        (latest[topic], told[topic], endedAt[topic]) = (nil, nil, nil)
    }

    /// What was published last of it, be it forgotten.
    func last(of topic: TopicID) -> Publication? {
        guard let turn = turns[topic] else { return nil }
        return lastOfTurn[Turn(topic: topic, number: turn)] ?? lastOfTurn[Turn(topic: topic, number: turn - 1)]
    }

    /// What the phone is to see of a topic.
    func newest(_ topic: TopicID, for phone: Phone) -> Publication? {
        switch phone.served {
        case .topic: lastOfTurn[Turn(topic: topic, number: phone.turn)]
        case .lineup, nil: latest[topic]
        }
    }

    /// There is something that the phone is to see.
    func hasNews(for phone: Phone) -> Bool {
        guard let served = phone.served, !waitingLineups.contains(served) else { return false }
        if case .lineup(let topics, _) = served {
            return topics.contains { latest[$0] != nil && !mayBeUnknown.contains($0) }
        }
        return served.topics.contains { newest($0, for: phone) != nil }
    }

    /// Whether what is published of a topic now is meant for the phone.
    func shows(_ topic: TopicID, to phone: Phone) -> Bool {
        switch phone.served {
        case .topic(topic): phone.turn == turns[topic]
        case .lineup(let topics, _): topics.contains(topic)
        default: false
        }
    }

    /// Whoever has nothing but topics that are over from now on waits for what comes under their ids; in a lineup, where nobody else
    /// has that already.
    func isWaited(_ audience: AudienceKey) -> Bool {
        guard lineups[audience] == nil else { return waitingLineups.contains(audience) }
        return audience.topics.allSatisfy(isOver)
            || audience.topics.allSatisfy { forgotten.contains($0) || latest[$0] == nil }
    }

    /// Somebody is the first to have this lineup.
    func begin(_ lineup: AudienceKey, at now: Int64) {
        if isWaited(lineup) { waitingLineups.insert(lineup) }
        lineups[lineup] = now
    }
}
