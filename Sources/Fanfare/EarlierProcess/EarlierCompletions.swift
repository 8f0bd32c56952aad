import FanfareLog
import FanfareModel

/// Versions that people have from earlier processes, as the store records them.
package struct EarlierCompletions: Sendable {
    private struct Key: Hashable {
        let topic: TopicID
        let app: AppID?
    }

    private struct Completion {
        let stored: StoredCompletion
        let exceptions: Set<ActivityMark>
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
        let name = Key(topic: stored.topic, app: stored.app)
        // The later of two tenures of a topic counts.
        if let known = completions[name], known.stored.birth > stored.birth { return }
        completions[name] = Completion(stored: stored, exceptions: Set(stored.exceptions))
    }

    /// Returns whether the activity has the version that the store names for its topic.
    ///
    /// - Parameter app: app of the activity; `nil` if nothing is sent to APNs.
    func hasVersion(_ subscription: Subscription, app: AppID?) -> Bool {
        // A lineup shows several topics. A card that is not in the store is not known to have been there.
        guard case .topic(let topic) = subscription.audience, let serial = subscription.serial,
            let completion = completions[Key(topic: topic, app: app)]
        else { return false }
        if let joined = subscription.joinedAt {
            guard joined < completion.stored.before else { return false }
        } else {
            guard serial < completion.stored.serials else { return false }
        }
        return completion.exceptions.isEmpty
            || !completion.exceptions.contains(ActivityMark(subscription.activity, token: subscription.token))
    }

    /// Returns whether the store names this version of the topic, with its state.
    func isOf(_ publication: Publication, app: AppID?) -> Bool {
        guard let stored = completions[Key(topic: publication.topicID, app: app)]?.stored else { return false }
        return EarlierCompletions.isOf(publication, stored)
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
