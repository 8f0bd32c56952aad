import FanfareModel

/// Completions of topics in single shards, until all shards of an app have reported the same version. Confined to the core's thread.
struct ShardTopicCompletions {
    private struct Key: Hashable {
        let birth: UInt64
        let app: Int
        let scope: CompletionScope

        init(_ completion: TopicCompletion, app: Int) {
            self.init(birth: completion.publication.topic.birth, app: app, scope: completion.scope)
        }

        init(birth: UInt64, app: Int, scope: CompletionScope) {
            (self.birth, self.app, self.scope) = (birth, app, scope)
        }
    }

    private struct Entry {
        var version: UInt32
        /// The reports by shard of the app.
        var reports: [TopicCompletion?]
        /// The time of the last completion of the app, if that had no exceptions.
        var completeBefore: FeedTime?
    }

    private var entries: [Key: Entry] = [:]
    /// Number of shards of each app.
    private let perApp: Int

    init(perApp: Int) { self.perApp = perApp }

    /// Takes the report of a shard about the newest version of a topic.
    ///
    /// - Parameter shard: index of the shard among those of the app.
    /// - Returns: the completion of the topic in the app; `nil` while shards are missing, or too many people lack the version.
    mutating func take(_ completion: TopicCompletion, app: Int, shard: Int) -> TopicCompletion? {
        guard perApp > 1 else { return completion }
        let key = Key(completion, app: app)
        var entry =
            entries.removeValue(forKey: key)
            ?? Entry(version: completion.publication.version, reports: Array(repeating: nil, count: perApp))
        if entry.version != completion.publication.version {
            entry = Entry(version: completion.publication.version, reports: Array(repeating: nil, count: perApp))
        }
        entry.reports[shard] = completion
        defer { entries[key] = entry }
        let reports = entry.reports.compactMap(\.self)
        let exceptions = reports.flatMap(\.exceptions)
        guard reports.count == perApp, exceptions.count <= TopicCompletion.exceptionsMax,
            let before = reports.map(\.before).min(), !exceptions.isEmpty || entry.completeBefore != before
        else { return nil }
        entry.completeBefore = exceptions.isEmpty ? before : nil
        return TopicCompletion(completion.publication, of: completion.scope, before: before, except: exceptions)
    }

    /// Returns the shards of the app to ask about the topic: their reports have an earlier time than a report for joiners, or another version. A
    /// shard that still lacks the version does not answer, and reports by itself. A shard without lineups of the topic reports only if it is asked.
    func behind(_ completion: TopicCompletion, app: Int) -> [Int] {
        guard completion.asksOthers, perApp > 1, let entry = entries[Key(completion, app: app)],
            entry.version == completion.publication.version
        else { return [] }
        return entry.reports.indices.filter {
            entry.reports[$0].map { completion.isForJoiners && $0.before < completion.before } ?? true
        }
    }

    /// Forgets a removed topic.
    mutating func forget(_ birth: UInt64, apps: Int) {
        guard perApp > 1 else { return }
        for app in 0..<apps {
            for scope in CompletionScope.allCases { entries[Key(birth: birth, app: app, scope: scope)] = nil }
        }
    }

    /// Forgets all reports, because all topics' states are sent again.
    mutating func removeAll() { entries = [:] }
}
