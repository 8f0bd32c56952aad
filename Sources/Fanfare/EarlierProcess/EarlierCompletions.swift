import FanfareLog
import FanfareModel

/// Versions that people have from earlier processes, as the store records them.
package struct EarlierCompletions: Sendable {
    private struct Key: Hashable {
        let topic: TopicID
        let app: AppID?
        let scope: CompletionScope
    }

    private struct Completion {
        let stored: StoredCompletion
        let exceptions: Set<ActivityMark>

        /// Returns whether the completion speaks of the activity.
        func covers(_ subscription: Subscription, _ serial: UInt64) -> Bool {
            if let joined = subscription.joinedAt {
                guard joined < stored.before else { return false }
            } else {
                guard serial < stored.serials else { return false }
            }
            return exceptions.isEmpty
                || !exceptions.contains(ActivityMark(subscription.activity, token: subscription.token))
        }
    }

    private var completions: [Key: Completion] = [:]
    /// The completions, with their places in the store.
    private var rows: [(key: CompletionKey, stored: StoredCompletion)] = []
    /// Log position up to which completions are known.
    var through: LogPosition = 0

    init() {}

    var isEmpty: Bool { rows.isEmpty }

    mutating func insert(_ stored: StoredCompletion, at key: CompletionKey) {
        rows.append((key, stored))
        let name = Key(topic: stored.topic, app: stored.app, scope: key.scope)
        // The later of two tenures of a topic counts.
        if let known = completions[name], known.stored.birth > stored.birth { return }
        completions[name] = Completion(stored: stored, exceptions: Set(stored.exceptions))
    }

    /// Returns whether the activity has the versions that the store names for the topics of its audience.
    ///
    /// - Parameter app: app of the activity; `nil` if nothing is sent to APNs.
    func hasVersion(_ subscription: Subscription, app: AppID?) -> Bool { topicsShown(by: subscription, app: app) > 0 }

    /// Returns the number of topics whose versions the store names, if the activity has them all; otherwise 0. Nothing was published of a lineup's
    /// other topics, or somebody lacks it.
    ///
    /// - Parameter app: app of the activity; `nil` if nothing is sent to APNs.
    func topicsShown(by subscription: Subscription, app: AppID?) -> Int {
        // A card that is not in the store is not known to have been there.
        guard let serial = subscription.serial else { return 0 }
        let scope: CompletionScope
        if case .lineup = subscription.audience { scope = .lineups } else { scope = .followers }
        var count = 0
        for topic in subscription.audience.topics {
            guard let completion = completions[Key(topic: topic, app: app, scope: scope)] else { continue }
            guard completion.covers(subscription, serial) else { return 0 }
            count += 1
        }
        return count
    }

    /// Returns whether the store names this version of the topic, with its state, for the activities of a scope.
    func isOf(_ publication: Publication, app: AppID?, in scope: CompletionScope = .followers) -> Bool {
        joinersEnd(of: publication, app: app, in: scope) != nil
    }

    /// Returns the log time before which the version's holders of a scope joined; `nil` if the store does not name this version of the topic, with its
    /// state.
    func joinersEnd(of publication: Publication, app: AppID?, in scope: CompletionScope) -> FeedTime? {
        let key = Key(topic: publication.topicID, app: app, scope: scope)
        guard let stored = completions[key]?.stored, EarlierCompletions.isOf(publication, stored) else { return nil }
        return stored.before
    }

    private static func isOf(_ publication: Publication, _ stored: StoredCompletion) -> Bool {
        guard stored.birth == publication.topic.birth, stored.version == publication.version else { return false }
        // Another build may have decided the same version otherwise.
        return stored.shows(publication)
    }

    /// Returns the places of the completions that match none of the publications.
    func outdated(by publications: [Publication]) -> [CompletionKey] {
        let shown = Dictionary(publications.map { ($0.topic.birth, $0) }) { first, _ in first }
        return rows.filter { row in !(shown[row.key.birth].map { EarlierCompletions.isOf($0, row.stored) } ?? false) }
            .map(\.key)
    }
}
