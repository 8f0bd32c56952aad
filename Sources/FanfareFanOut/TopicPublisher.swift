import FanfareModel

/// Publishes the versions of topics to their followers and lineups, and finds or makes the audience that an activity is to join.
final class TopicPublisher {
    private let reporter: FeedbackReporter
    private let membership: Membership
    private let lineupPublisher: LineupPublisher
    var earlier = EarlierDeliveries()
    /// `Moment.stampEpoch` of the last `wakeDue`.
    var stampEpoch: UInt32 = 0
    /// Place of the next audience whose state is to be sent once more after a clock step; `nil` if all have been.
    private var shownAgain: Int?
    var isShowingAgain: Bool { shownAgain != nil }
    /// Maximum of audiences in one turn of a repeat after a clock step: a few milliseconds' work.
    private static let shownAgainMax = 4096

    init(_ reporter: FeedbackReporter, _ membership: Membership, _ lineupPublisher: LineupPublisher) {
        self.reporter = reporter
        self.membership = membership
        self.lineupPublisher = lineupPublisher
    }

    /// - Parameters:
    ///   - unfinished: alerts of an earlier process for those whom they have not reached, the oldest first.
    ///   - isComplete: whether those who are known to have the newest version have this one.
    func publish(
        _ publication: Publication, unfinished: [UnfinishedAlert] = [], isComplete: Bool = false, at moment: Moment
    ) {
        let topic = membership.topics.insert(topicOf: publication)
        membership.detach(topic)
        let isChange =
            publication.alert != nil || publication.isRepublished || !membership.topics.shows(publication, topic)
        // A follower at rest shows the topic's latest publication, so it is woken before that is another one.
        let followers = membership.topics[topic].followers.map { (index: $0, audience: membership.awake($0)) }
        membership.topics.take(publication, of: topic, at: moment)
        // The count falls as audiences complete the publication; its first unit keeps it open until all audiences are added.
        let kind = reporter.freshness.index(of: publication.topicKind)
        reporter.publications.open(
            publication.serial, audiences: 1, freshness: kind, at: moment.monotonicNanoseconds)
        let alert = publication.alert.map { issue($0, of: publication, at: moment) }
        if isChange || publication.event == .end, let (index, audience) = followers {
            membership.audiences.noteSize(audience, at: index)
            reporter.publications.addAudience(to: publication.serial)
            let version = Audience.Version(publication)
            let alerts = unfinished.map { issue($0.alert, of: publication, age: $0.age, at: moment) }
            for alert in alerts.dropLast() { audience.open(alert, in: version) }
            membership.publish(
                version, in: audience, alerting: alert ?? alerts.last, freshness: kind, at: moment.monotonicNanoseconds
            )
            if !unfinished.isEmpty { noteSettled(unfinished, of: audience) }
            membership.open(publication.serial, in: audience)
            if isComplete { settleHolders(of: audience) }
            membership.lanes.enqueue(audience)
            membership.reportCompleted(audience, at: moment)
            if isComplete { membership.rest(index) }
        } else {
            noteCompletion(of: publication, topic)
        }
        lineupPublisher.publishToLineups(
            publication, alert ?? toLineups(unfinished, of: publication, at: moment), of: topic, at: moment)
        reporter.complete(publication.serial, at: moment)
    }

    /// Notes for the core that nobody lacks a publication here, if it is its topic's latest one and that is so.
    func noteCompletion(of publication: Publication) {
        guard let topic = membership.topics.index(of: publication.topicID),
            let latest = membership.topics[topic].latest,
            latest.topic.birth == publication.topic.birth, latest.version == publication.version
        else { return }
        noteCompletion(of: latest, topic)
    }

    private func noteCompletion(of latest: Publication, _ topic: TopicIndex) {
        if let followers = membership.topics[topic].followers {
            membership.noteCompletion(of: membership.awake(followers))
            membership.rest(followers)
        } else if !membership.topics.hasFollowersOfEarlier(latest.topicID) {
            reporter.completions.noteUnfollowed(latest)
        }
    }

    private func issue(
        _ alert: Alert, of publication: Publication, age: Duration = .zero, at moment: Moment
    ) -> IssuedAlert {
        let issue = IssuedAlert(
            alert, of: publication.topicID, at: moment.monotonicNanoseconds - age.milliseconds * 1_000_000)
        issue.claimedFrom = membership.claims.next
        return issue
    }

    /// Returns the alert of an earlier process that lineups get, whose news have one at most.
    private func toLineups(
        _ unfinished: [UnfinishedAlert], of publication: Publication, at moment: Moment
    ) -> IssuedAlert? {
        guard let weightiest = unfinished.map(\.alert).weightiest,
            let age = unfinished.first(where: { $0.alert === weightiest })?.age
        else { return nil }
        let issue = issue(weightiest, of: publication, age: age, at: moment)
        issue.earlier = earlier.alerts
        return issue
    }

    /// Notes which alerts of an earlier process concern which members.
    private func noteSettled(_ unfinished: [UnfinishedAlert], of audience: Audience) {
        let first = audience.target - UInt32(unfinished.count)
        for slot in audience.order.members {
            membership.store[slot].alerted = first + UInt32(earlier.settled(unfinished, for: slot))
        }
    }

    /// Notes that the followers who have had the version from an earlier process need no push.
    private func settleHolders(of audience: Audience) {
        var count = 0
        for slot in audience.order.members where earlier.hasNewest(slot) && membership.store[slot].delivered == 0 {
            membership.store[slot].delivered = audience.target
            membership.store[slot].alerted = audience.target
            count += 1
        }
        guard count > 0 else { return }
        audience.ledger.advance(count, from: 0, to: audience.target)
        membership.count(owed: -count, in: audience)
        if audience.owed == 0 { audience.skipSweep() }
    }

    /// Sends the newest state of all audiences once more, silently, after a clock was put right: phones may have dropped accepted pushes
    /// because of their stamps.
    func showAgainAfterClockStep(at moment: Moment) {
        if moment.stampEpoch != stampEpoch {
            (stampEpoch, shownAgain) = (moment.stampEpoch, 0)
            reporter.reportShowingAgain()
        }
        guard let begun = shownAgain else { return }
        let end = min(membership.audiences.count, begun + TopicPublisher.shownAgainMax)
        shownAgain = end < membership.audiences.count ? end : nil
        reporter.completions.isSuspended = isShowingAgain
        for index in (begun..<max(begun, end)).lazy.map(AudienceIndex.init) {
            let audience = membership.awake(index)
            guard let version = audience.versionAgain() else {
                membership.rest(index)
                continue
            }
            membership.publish(
                version, in: audience, alerting: nil, freshness: audience.times.freshness,
                at: moment.monotonicNanoseconds)
            if audience.lane.parked == nil { membership.lanes.enqueue(audience) }
        }
    }

    func republish(at moment: Moment) {
        reporter.reportShowingAgain()
        for latest in membership.topics.published where latest.event == .update {
            publish(latest.republished(as: reporter.publications.nextOwnSerial()), at: moment)
        }
    }

    /// Returns the index of an audience, which is made if there is none. The first version of an audience made after its topics were published
    /// is their newest state. The caller adds a member to a new audience, or removes it.
    ///
    /// - Parameter key: a key that `refusal(of:)` does not refuse.
    func audienceIndex(_ key: AudienceKey, at moment: Moment) -> AudienceIndex {
        switch key {
        case .topic(let id):
            let topic = membership.topics.insert(id)
            membership.detach(topic)
            if let known = membership.topics[topic].followers { return known }
            let audience = Audience(topics: [topic], openMax: membership.openMax)
            let index = membership.audiences.insert(audience)
            membership.topics[topic].followers = index
            if let latest = membership.topics[topic].latest, !membership.topics[topic].isOver {
                audience.adopt(Audience.Version(latest))
            }
            return index
        case .lineup(let members, let favourite):
            return lineupPublisher.lineupIndex(members, favourite: favourite, at: moment)
        }
    }
}

extension Audience.Version {
    /// Creates a version for the topic's own followers.
    fileprivate init(_ publication: Publication) {
        self.init(
            event: publication.event, priority: publication.priority, latest: publication,
            display: publication.display)
    }
}
