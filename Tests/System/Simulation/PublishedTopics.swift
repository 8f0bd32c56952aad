import FanfareModel

/// What has been published to a shard, and what a phone is therefore to see: the model with which judges compare pushes.
///
/// An id may come again after its topic is over, because the rules begin it afresh or the core has forgotten it. Each use is a tenure. A
/// phone that follows a tenure sees nothing of the next one; a phone that follows after its end waits for the next.
struct PublishedTopics {
    /// A version of a topic that was sent to a shard.
    struct Told {
        let publication: Publication
        let at: MonotonicTime
        /// Is `true` if the version is sent at once, together with everything that waited.
        var isUrgent: Bool {
            publication.alert != nil || publication.event == .update && publication.priority == .immediate
        }
    }

    private struct Tenure: Hashable {
        let topic: TopicID
        let number: Int
    }

    /// Newest publication of each topic.
    private(set) var latest: [TopicID: Publication] = [:]
    /// All versions of each topic; `endedAt` has the time of the topic's end.
    private(set) var told: [TopicID: [Told]] = [:]
    private(set) var endedAt: [TopicID: MonotonicTime] = [:]
    /// Tenure of each topic's id that was published last; `lastOfTenure` has the last publication of each tenure.
    private(set) var tenures: [TopicID: Int] = [:]
    private var lastOfTenure: [Tenure: Publication] = [:]
    /// Topics that the core has forgotten and a phone still shows.
    private(set) var forgotten: Set<TopicID> = []
    /// Topics of `forgotten` that no phone may have shown for a moment, so that the shard may have forgotten them, too.
    private(set) var mayBeUnknown: Set<TopicID> = []
    /// Lineups that phones show, with the time of their first member.
    private(set) var lineups: [AudienceKey: MonotonicTime] = [:]
    /// Lineups in which nothing has been published since they began.
    private(set) var waitingLineups: Set<AudienceKey> = []

    private func isOver(_ topic: TopicID) -> Bool {
        latest[topic].map { $0.freesID || forgotten.contains(topic) } ?? false
    }

    /// Returns the tenure that a new follower of the topic sees.
    func tenure(of topic: TopicID) -> Int { tenures[topic, default: 0] + (isOver(topic) ? 1 : 0) }

    mutating func note(_ publication: Publication, at now: MonotonicTime) {
        let topic = publication.topicID
        let tenure = tenure(of: topic)
        tenures[topic] = tenure
        latest[topic] = publication
        lastOfTenure[Tenure(topic: topic, number: tenure)] = publication
        told[topic, default: []].append(Told(publication: publication, at: now))
        endedAt[topic] = publication.event == .end ? now : nil
        forgotten.remove(topic)
        mayBeUnknown.remove(topic)
        waitingLineups = waitingLineups.filter { !$0.topics.contains(topic) }
    }

    /// Notes that the core has forgotten a topic.
    mutating func forget(_ topic: TopicID) { forgotten.insert(topic) }

    /// Drops the forgotten topics that no phone shows.
    ///
    /// - Parameters:
    ///   - shown: topics that phones show.
    ///   - surely: those of `shown` of which the shard knows a phone for certain.
    mutating func keepForgotten(_ shown: Set<TopicID>, surely: Set<TopicID>) {
        for topic in forgotten where !shown.contains(topic) {
            tenures[topic] = tenure(of: topic)
            (latest[topic], told[topic], endedAt[topic]) = (nil, nil, nil)
        }
        forgotten.formIntersection(shown)
        mayBeUnknown.formUnion(forgotten.subtracting(surely))
        mayBeUnknown.formIntersection(forgotten)
    }

    /// Returns the last publication of the topic, even if it was forgotten.
    func last(of topic: TopicID) -> Publication? {
        guard let tenure = tenures[topic] else { return nil }
        return lastOfTenure[Tenure(topic: topic, number: tenure)]
            ?? lastOfTenure[Tenure(topic: topic, number: tenure - 1)]
    }

    // MARK: What a phone is to see

    /// Returns the newest publication of a topic that the phone is to see.
    func newest(_ topic: TopicID, for following: Following) -> Publication? {
        switch following.served {
        case .topic: lastOfTenure[Tenure(topic: topic, number: following.tenure)]
        case .lineup, nil: latest[topic]
        }
    }

    /// Returns the serial of the newest publication that the phone is to see; 0 if there is none.
    func newestSerial(for following: Following) -> UInt64 {
        following.served?.topics.compactMap { newest($0, for: following)?.serial }.max() ?? 0
    }

    /// Is `true` if there is something that the phone is to see.
    func hasNews(for following: Following) -> Bool {
        guard let served = following.served, !waitingLineups.contains(served) else { return false }
        if case .lineup(let topics, _) = served {
            return topics.contains { latest[$0] != nil && !mayBeUnknown.contains($0) }
        }
        return served.topics.contains { newest($0, for: following) != nil }
    }

    /// Is `true` if everything of the audience that the phone is to see is over.
    func isOver(_ audience: AudienceKey, for following: Following) -> Bool {
        audience.topics.allSatisfy { newest($0, for: following)?.event == .end }
    }

    /// Is `true` if a lineup may be over. Topics that the core forgot were over, but from outside it is unknown if
    /// the shard still knows that and ends the lineup.
    func mayBeOver(_ audience: AudienceKey, for following: Following) -> Bool {
        guard case .lineup(let topics, _) = audience else { return false }
        return topics.allSatisfy { topic in
            newest(topic, for: following).map { $0.event == .end } ?? (tenures[topic] != nil)
        }
    }

    /// Is `true` if new publications of the topic are meant for the phone.
    func shows(_ topic: TopicID, to following: Following) -> Bool {
        switch following.served {
        case .topic(topic): following.tenure == tenures[topic]
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

    // MARK: Lineups

    /// Notes a member of a lineup, which may be its first.
    mutating func join(_ lineup: AudienceKey, at now: MonotonicTime) {
        guard lineups[lineup] == nil else { return }
        if isWaited(lineup) { waitingLineups.insert(lineup) }
        lineups[lineup] = now
    }

    /// Forgets the lineups without members.
    mutating func keepLineups(of served: Set<AudienceKey>) { lineups = lineups.filter { served.contains($0.key) } }

    /// Forgets the waiting lineups without members.
    mutating func keepWaitingLineups(of served: Set<AudienceKey>) { waitingLineups.formIntersection(served) }
}
