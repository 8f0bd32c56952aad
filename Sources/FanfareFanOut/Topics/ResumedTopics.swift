import FanfareModel

/// States and alerts of topics, from before a restart and since, that cards to be loaded may lack.
///
/// An engine with a store publishes each topic's state, and then loads the topic's cards. A card has joined its topic long before, so earlier alerts
/// concern it, including alerts of the process before this one unless they may have left for it. The alerts stay for a while after all cards are
/// loaded: another topic of a lineup may have the same facts later.
struct ResumedTopics {
    /// By topic, alerts that may still leave, the oldest first: of each class as many as an audience keeps.
    private var alerts: [TopicIndex: [PendingAlert]] = [:]
    /// Content hashes of the alerts that were noted.
    private var contentHashes: Set<UInt64> = []
    /// By place of the topic, hash of the state of cards that had the topic's newest version when the process before this one ended; 0 if unknown.
    private var displayHashes: [UInt64] = []
    /// By place of the topic, hash of the state of loaded lineups that had the newest versions of their topics then; 0 if unknown.
    private var lineupDisplayHashes: [UInt64] = []
    /// Is `true` while cards are loaded.
    private(set) var isLoading = false
    /// Time from which on cards are loaded; `never` before the loading.
    private(set) var loadedSince = MonotonicTime.never

    /// Notes that cards are loaded from now on.
    mutating func begin(at now: MonotonicTime) { (isLoading, loadedSince) = (true, now) }

    /// News up to which lineups have been loaded; `nil` while cards are loaded.
    private var loadedThrough: NewsNumber?
    private var forgetsAt: MonotonicTime?

    /// Notes that all cards are loaded.
    ///
    /// - Parameter newest: newest news of lineups.
    mutating func end(newest: NewsNumber, at now: MonotonicTime) {
        (isLoading, loadedThrough, forgetsAt) = (false, newest, now + AlertClaim.ageMax)
        forgetHolders()
    }

    /// Forgets old alerts.
    mutating func expire(at now: MonotonicTime) {
        if let forgetsAt, now >= forgetsAt { self = ResumedTopics() }
    }

    /// Returns whether the alerts concern a lineup; they do if it was loaded.
    ///
    /// - Parameter born: newest news when the lineup was made.
    func concern(lineupBornAt born: NewsNumber) -> Bool { loadedThrough.map { born <= $0 } ?? true }

    /// Notes that cards with the newest version of a topic before the restart have this publication.
    mutating func noteHolders(of publication: Publication, _ topic: TopicIndex) {
        ResumedTopics.note(publication.displayHash, at: topic, in: &displayHashes)
    }

    /// Notes that lineups with the newest versions of their topics before the restart show this publication.
    mutating func noteLineups(showing publication: Publication, _ topic: TopicIndex) {
        ResumedTopics.note(publication.displayHash, at: topic, in: &lineupDisplayHashes)
    }

    private static func note(_ displayHash: UInt64, at topic: TopicIndex, in hashes: inout [UInt64]) {
        let missing = topic.place + 1 - hashes.count
        if missing > 0 { hashes.append(contentsOf: repeatElement(0, count: missing)) }
        hashes[topic.place] = displayHash
    }

    /// Forgets which cards have a state from before the restart: phones may have dropped it.
    mutating func forgetHolders() { (displayHashes, lineupDisplayHashes) = ([], []) }

    /// Notes an alert of the topic.
    ///
    /// - Parameter weight: weight of its news, for the spotlight of lineups.
    mutating func note(_ issue: IssuedAlert, of topic: TopicIndex, weight: Int) {
        issue.weight = weight
        contentHashes.insert(issue.contentHash)
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
        if topic.place < displayHashes.count { displayHashes[topic.place] = 0 }
        if topic.place < lineupDisplayHashes.count { lineupDisplayHashes[topic.place] = 0 }
    }

    var hasAlerts: Bool { !alerts.isEmpty }

    /// The topic's alerts that may still leave, the oldest first.
    func alerts(of topic: TopicIndex, at moment: Moment) -> [PendingAlert] {
        alerts.isEmpty ? [] : alerts[topic]?.filter { $0.isCarried(at: moment) } ?? []
    }

    /// Returns whether another of these topics has alerted with the same cause and text before: a loaded lineup has had that alert, or carries it
    /// along.
    func isRepeat(_ issue: IssuedAlert, in topics: some Sequence<TopicIndex>) -> Bool {
        guard issue.alert.isCauseOfProvider, contentHashes.contains(issue.contentHash) else { return false }
        for topic in topics {
            for other in alerts[topic] ?? []
            where other.topic != issue.topic && !other.isRevoked && other.issue.hasSameContent(as: issue)
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

    /// Returns whether cards with the version that the store names had the topic's newest one before the restart.
    func hasHolders(_ topic: TopicIndex) -> Bool { displayHash(topic) != 0 }

    /// Returns whether the topic's holders show this publication.
    func isShown(_ latest: Publication, _ topic: TopicIndex) -> Bool {
        latest.event == .update && displayHash(topic) == latest.displayHash
    }

    /// Returns whether loaded lineups that had the newest versions of their topics show this publication.
    func isShownInLineups(_ latest: Publication, _ topic: TopicIndex) -> Bool {
        topic.place < lineupDisplayHashes.count && lineupDisplayHashes[topic.place] == latest.displayHash
    }

    private func displayHash(_ topic: TopicIndex) -> UInt64 {
        topic.place < displayHashes.count ? displayHashes[topic.place] : 0
    }

    /// Describes alerts or states that are kept for another topic, or too many; `nil` if there are none.
    ///
    /// - Parameters:
    ///   - rows: number of places that topics have.
    ///   - id: returns the id of the topic at a place.
    func violation(rows: Int, id: (TopicIndex) -> TopicID) -> String? {
        guard max(displayHashes.count, lineupDisplayHashes.count) <= rows else {
            return "\(displayHashes.count) of \(rows) topics have holders, and lineups \(lineupDisplayHashes.count)"
        }
        guard (loadedThrough == nil) == (forgetsAt == nil) else { return "loading is over, or it is not" }
        for (topic, issued) in alerts {
            guard topic.place < rows, !issued.isEmpty, issued.allSatisfy({ $0.topic == id(topic) }) else {
                return "the alerts at place \(topic) of topics are another topic's"
            }
            guard issued.kept.count == issued.count,
                issued.allSatisfy({ contentHashes.contains($0.issue.contentHash) })
            else { return "\(issued.count) alerts of topic \(id(topic)) are kept, or their content is not known" }
        }
        return nil
    }

    /// Returns whether the alert concerns a loaded card.
    ///
    /// - Parameter hadNewest: whether the card had the topic's newest version before the restart, and so all alerts.
    static func concerns(_ issue: IssuedAlert, _ earlier: EarlierDelivery, hadNewest: Bool = false) -> Bool {
        if earlier.isLeaving || hadNewest && issue.isResumed { return false }
        guard issue.isResumed, let through = earlier.settledThrough else { return true }
        return issue.alert.grantedAt > through
    }
}
