import FanfareModel

/// Publishes the versions of topics to their followers and lineups, and finds or makes the audience that an activity is to join.
final class TopicPublisher {
    private let reporter: FeedbackReporter
    private let membership: Membership
    private let lineupPublisher: LineupPublisher
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

    /// Publishes a topic's state from before a restart. Cards that are loaded afterwards get the state if they lack it.
    func resume(_ new: ResumedPublication, at moment: Moment) {
        publish(new.publication, at: moment)
        guard let topic = membership.topics.index(of: new.publication.topicID) else { return }
        if new.isComplete { membership.topics.resumed.noteHolders(of: new.publication, topic) }
        if new.isCompleteInLineups { membership.topics.resumed.noteLineups(showing: new.publication, topic) }
        for alert in new.alerts {
            let issue = issue(alert.alert, of: new.publication, age: alert.age, at: moment)
            issue.isResumed = true
            membership.topics.resumed.note(issue, of: topic, weight: new.publication.prominence.occasionWeight ?? 0)
        }
    }

    func publish(_ publication: Publication, at moment: Moment) {
        if membership.topics.resumed.hasAlerts { membership.topics.resumed.expire(at: moment.monotonic) }
        let topic = membership.topics.insert(topicOf: publication)
        if let latest = membership.topics[topic].latest, latest.isSucceeded(by: publication) {
            membership.topics.resumed.forget(topic)
        }
        detach(topic)
        let isChange =
            publication.alert != nil || publication.isRepublished || !membership.topics.shows(publication, topic)
        // A follower at rest shows the topic's latest publication, so it is woken before a new publication replaces that one.
        let followers = membership.topics[topic].followers.map { (index: $0, audience: membership.awake($0)) }
        membership.topics.take(publication, of: topic, at: moment)
        // The count falls as audiences complete the publication; its first unit keeps it tracked until all audiences are added.
        let kind = reporter.freshness.index(of: publication.topicKind)
        reporter.publications.track(publication.serial, audiences: 1, freshness: kind, at: moment.monotonic)
        let alert = publication.alert.map { issue($0, of: publication, at: moment) }
        if isChange || publication.event == .end, let (index, audience) = followers {
            membership.audiences.noteSize(audience, at: index)
            reporter.publications.addAudience(to: publication.serial)
            let version = AudienceVersion(publication)
            membership.publish(version, in: audience, alerting: alert, freshness: kind, at: moment.monotonic)
            membership.track(publication.serial, in: audience)
            membership.lanes.enqueue(audience)
            membership.reportCompleted(audience, at: moment)
        } else {
            noteCompletion(of: publication, topic)
        }
        lineupPublisher.publishToLineups(publication, alert, of: topic, at: moment)
        reporter.completions.noteArrival(of: publication)
        if membership.topics.resumed.isLoading, let alert {
            membership.topics.resumed.note(alert, of: topic, weight: publication.prominence.occasionWeight ?? 0)
        }
        reporter.complete(publication.serial, at: moment)
    }

    /// Separates the followers of a topic that is over from its id: they may still lack its end, and do not get the next topic with that id.
    /// Followers to which nothing has been published followed after the end, and wait for the next topic.
    private func detach(_ topic: TopicIndex) {
        guard membership.topics[topic].isOver, let followers = membership.topics[topic].followers,
            membership.awake(followers).target > 0
        else { return }
        membership.awake(followers).detach(as: membership.topics.detach(topic))
    }

    /// Notes the completion of a publication here, if it is complete and its topic's latest one.
    func noteCompletion(of publication: Publication, in scope: CompletionScope) {
        guard let topic = membership.topics.index(of: publication.topicID),
            let latest = membership.topics[topic].latest,
            latest.topic.birth == publication.topic.birth, latest.version == publication.version
        else { return }
        switch scope {
        case .followers: noteCompletion(of: latest, topic)
        // The answer comes once all cards are loaded, because the core asks only once.
        case .lineups: reporter.completions.list([topic], for: .question)
        }
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
        let issue = IssuedAlert(alert, of: publication.topicID, at: moment.monotonic - age)
        issue.claimedFrom = membership.claims.next
        return issue
    }

    /// Revokes the alert caused by a fact of a topic: no further push carries it.
    func revokeAlert(cause: String, of topic: TopicID) {
        guard let index = membership.topics.index(of: topic) else { return }
        if let followers = membership.topics[index].followers {
            membership.awake(followers).revokeAlert(cause: cause, topic: topic)
        }
        membership.lineups[index]?.revoke(cause: cause)
        membership.topics.resumed.revoke(cause: cause, of: index)
        membership.carriedAlerts.revoke(cause: cause, topic: topic)
    }

    /// Sends the newest state of all audiences once more, silently, after a clock was corrected: phones may have dropped accepted pushes because of
    /// their stamps.
    func showAgainAfterClockStep(at moment: Moment) {
        if moment.stampEpoch != stampEpoch {
            membership.topics.resumed.forgetHolders()
            (stampEpoch, shownAgain) = (moment.stampEpoch, 0)
            reportShowingAgain()
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
                at: moment.monotonic)
            if audience.lane.parked == nil { membership.lanes.enqueue(audience) }
        }
    }

    private func reportShowingAgain() {
        reporter.reportShowingAgain()
        reporter.completions.list(membership.lineups.shownTopics)
    }

    func republish(at moment: Moment) {
        reportShowingAgain()
        for latest in membership.topics.published where latest.event == .update {
            publish(latest.republished(as: reporter.publications.nextOwnSerial()), at: moment)
        }
    }

    /// Returns the index of an audience, which is made if there is none. The first version of an audience made after its topics were published
    /// is their newest state. The caller adds a member to a new audience, or removes it.
    ///
    /// - Parameters:
    ///   - key: a key that `KnownTopics.refusal` does not refuse.
    ///   - missed: alerts that a loaded member has missed of its lineup's topics, the oldest first.
    func audienceIndex(_ key: AudienceKey, missing missed: [PendingAlert] = [], at moment: Moment) -> AudienceIndex {
        // A loaded card joined before the restart, and is to get the end of a topic that is over.
        let isLoaded = membership.topics.resumed.isLoading
        switch key {
        case .topic(let id):
            let topic = membership.topics.insert(id)
            if !isLoaded { detach(topic) }
            if let known = membership.topics[topic].followers { return known }
            let audience = Audience(topics: [topic], trackedMax: membership.trackedMax)
            let index = membership.audiences.insert(audience)
            membership.topics[topic].followers = index
            if let latest = membership.topics[topic].latest, isLoaded || !membership.topics[topic].isOver {
                adopt(
                    latest, in: audience, with: isLoaded ? membership.topics.resumed.alerts(of: topic, at: moment) : [])
            }
            return index
        case .lineup(let members, let favourite):
            return lineupPublisher.lineupIndex(
                members, favourite: favourite, isLoaded: isLoaded, missing: missed, at: moment)
        }
    }

    /// Gives an audience that was made after its topic was published its first version, and the alerts that loaded members have missed.
    private func adopt(_ latest: Publication, in audience: Audience, with alerts: [PendingAlert]) {
        let version = AudienceVersion(latest)
        guard !alerts.isEmpty else { return audience.adopt(version) }
        for alert in alerts { audience.add(alert.issue, in: version) }
        if membership.claims.isKept { audience.claimFront.restart(members: 0, blocks: membership.claims.limits.blocks) }
    }
}

extension Publication {
    /// Returns whether another publication under the same id is that of another topic, or of the topic's next tenure.
    fileprivate func isSucceeded(by other: Publication) -> Bool {
        topic.birth != other.topic.birth || event == .end && freesID && other.event != .end
    }
}
