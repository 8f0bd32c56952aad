import FanfareModel

/// What topics have shown and alerted before a restart and since, as far as cards that are still to be loaded may lack it.
///
/// An engine with a store publishes what each topic shows, and loads its cards behind that. A card has joined its topic long before, so the
/// alerts that have come by then concern it, those of the process before this one as well unless they may have left for it. Once all cards are
/// loaded, the alerts stay for a while: another topic of a lineup may tell the same facts later.
struct ResumedTopics {
    /// By topic, alerts that may still leave, the oldest first: of each class as many as an audience keeps.
    private var alerts: [TopicIndex: [PendingAlert]] = [:]
    /// By place of the topic, hash of the state that those have who had the topic's newest version when the process before this one ended; 0 if
    /// that is not known.
    private var displays: [UInt64] = []
    /// Is `true` while cards are loaded.
    private(set) var isLoading = false

    /// Notes that cards are loaded from now on.
    mutating func begin() { isLoading = true }

    /// News up to which lineups have been loaded; `nil` while cards are loaded.
    private var loadedThrough: NewsNumber?
    private var forgetsAt: MonotonicTime?

    /// Notes that all cards are loaded.
    ///
    /// - Parameter newest: newest news of lineups.
    mutating func end(newest: NewsNumber, at now: MonotonicTime) {
        (isLoading, displays, loadedThrough, forgetsAt) = (false, [], newest, now + AlertClaim.ageMax)
    }

    /// Forgets alerts that have been known for long.
    mutating func expire(at now: MonotonicTime) {
        if let forgetsAt, now >= forgetsAt { self = ResumedTopics() }
    }

    /// Returns whether the alerts concern a lineup, which has been loaded.
    ///
    /// - Parameter born: newest news when the lineup was made.
    func concern(lineupBornAt born: NewsNumber) -> Bool { loadedThrough.map { born <= $0 } ?? true }

    /// Notes that those who had the newest version of a topic before the restart have this publication.
    mutating func noteHolders(of publication: Publication, _ topic: TopicIndex) {
        let missing = topic.place + 1 - displays.count
        if missing > 0 { displays.append(contentsOf: repeatElement(0, count: missing)) }
        displays[topic.place] = publication.display
    }

    /// Lets nobody keep what it had before the restart: phones may have dropped it.
    mutating func forgetHolders() { displays = [] }

    /// Notes an alert of the topic.
    ///
    /// - Parameter weight: of its news, for the spotlight of lineups.
    mutating func note(_ issue: IssuedAlert, of topic: TopicIndex, weight: Int) {
        issue.weight = weight
        let all = alerts[topic, default: []] + [PendingAlert(version: 0, number: 0, issue: issue)]
        alerts[topic] = Array(all.kept)
    }

    /// Revokes the alerts of a cause.
    func revoke(cause: String, of topic: TopicIndex) {
        for alert in alerts[topic] ?? [] where alert.alert.cause == cause { alert.issue.isRevoked = true }
    }

    /// Notes that the topic begins anew.
    mutating func forget(_ topic: TopicIndex) {
        if !alerts.isEmpty { alerts[topic] = nil }
        if topic.place < displays.count { displays[topic.place] = 0 }
    }

    var hasAlerts: Bool { !alerts.isEmpty }

    /// The topic's alerts that may still leave, the oldest first.
    func alerts(of topic: TopicIndex, at moment: Moment) -> [PendingAlert] {
        alerts.isEmpty ? [] : alerts[topic]?.filter { $0.isCarried(at: moment) } ?? []
    }

    /// Returns whether another of these topics has alerted with the same cause and text before: a lineup that is loaded has had that, or carries it
    /// along.
    func hasSaid(_ issue: IssuedAlert, in topics: some Sequence<TopicIndex>) -> Bool {
        guard issue.alert.isCauseOfProvider else { return false }
        for topic in topics {
            for other in alerts[topic] ?? []
            where other.topic != issue.topic && !other.isRevoked && other.issue.saysTheSame(as: issue)
                && ResumedTopics.precedes(other.issue, issue)
            {
                return true
            }
        }
        return false
    }

    private static func precedes(_ first: IssuedAlert, _ second: IssuedAlert) -> Bool {
        first.alert.grantedAt == second.alert.grantedAt
            ? TopicID.precedes(first.topic, second.topic) : first.alert.grantedAt < second.alert.grantedAt
    }

    /// Returns whether those who had the version that the store names had the topic's newest one before the restart.
    func hasHolders(_ topic: TopicIndex) -> Bool { display(topic) != 0 }

    /// Returns whether they show what this publication does.
    func isShown(_ latest: Publication, _ topic: TopicIndex) -> Bool {
        latest.event == .update && display(topic) == latest.display
    }

    private func display(_ topic: TopicIndex) -> UInt64 { topic.place < displays.count ? displays[topic.place] : 0 }

    /// Returns whether the alert concerns a card that is loaded.
    ///
    /// - Parameter hadNewest: whether the card had the topic's newest version before the restart, and so all alerts.
    static func concerns(_ issue: IssuedAlert, _ earlier: EarlierDelivery, hadNewest: Bool = false) -> Bool {
        if earlier.isLeaving || hadNewest && issue.isResumed { return false }
        guard issue.isResumed, let through = earlier.settledThrough else { return true }
        return issue.alert.grantedAt > through
    }
}
