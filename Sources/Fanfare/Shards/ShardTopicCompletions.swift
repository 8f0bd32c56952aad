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
        /// The shards that have been asked about this version.
        var asked: [Bool]
        /// The time of the last completion of the app, if that had no exceptions.
        var completeBefore: FeedTime?
        /// The report whose question is put off; `nil` if none is.
        var postponed: TopicCompletion?
        /// Is `true` if the list of questions that are put off has the key.
        var isListed = false

        init(version: UInt32, perApp: Int) {
            self.version = version
            reports = Array(repeating: nil, count: perApp)
            asked = Array(repeating: false, count: perApp)
        }
    }

    private var entries: [Key: Entry] = [:]
    /// Keys of entries with questions that are put off. An entry may be gone, or ask nothing any more.
    private var postponed: [Key] = []
    /// Number of shards of each app.
    private let perApp: Int

    init(perApp: Int) { self.perApp = perApp }

    /// Takes the report of a shard about the newest version of a topic.
    ///
    /// - Parameter shard: index of the shard among those of the app.
    /// - Returns: the completion of the topic in the app, or that there is none any more; `nil` while shards are missing, or too many people lack the
    ///   version.
    mutating func take(_ completion: TopicCompletion, app: Int, shard: Int) -> TopicCompletion? {
        guard perApp > 1 else { return completion }
        let key = Key(completion, app: app)
        let version = completion.publication.version
        guard !completion.isVoid else {
            // The completion may be that of an earlier process, of which not all shards have reported yet.
            if entries[key]?.version == version {
                entries[key]?.reports[shard] = nil
                // A shard without lineups of the topic does not report anew by itself.
                entries[key]?.asked[shard] = false
                entries[key]?.completeBefore = nil
            }
            return completion
        }
        var entry = entries.removeValue(forKey: key) ?? Entry(version: version, perApp: perApp)
        if entry.version != version {
            let isListed = entry.isListed
            entry = Entry(version: version, perApp: perApp)
            entry.isListed = isListed
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

    /// Returns the shards of the app to ask about the topic, and notes that they are asked: their reports have an earlier time than a report for
    /// joiners, or another version. A shard that still lacks the version does not answer, and reports by itself. A shard without lineups of the topic
    /// reports only if it is asked, and is asked once for each version, but for joiners.
    mutating func takeBehind(_ completion: TopicCompletion, app: Int) -> [Int] {
        let key = Key(completion, app: app)
        guard completion.asksOthers, perApp > 1, let entry = entries[key],
            entry.version == completion.publication.version
        else { return [] }
        let behind = entry.reports.indices.filter { shard in
            guard let report = entry.reports[shard] else { return completion.isForJoiners || !entry.asked[shard] }
            return completion.isForJoiners && report.before < completion.before
        }
        for shard in behind { entries[key]?.asked[shard] = true }
        return behind
    }

    /// Puts off the question about the topic of a report, because the way to the shards is full.
    mutating func postpone(_ completion: TopicCompletion, app: Int) {
        let key = Key(completion, app: app)
        guard completion.asksOthers, perApp > 1, var entry = entries.removeValue(forKey: key) else { return }
        // A question for joiners asks more.
        if completion.isForJoiners || entry.postponed?.isForJoiners != true { entry.postponed = completion }
        if !entry.isListed {
            entry.isListed = true
            postponed.append(key)
        }
        entries[key] = entry
    }

    var hasPostponed: Bool { !postponed.isEmpty }

    /// Removes and returns a report whose question was put off; `nil` if there is none.
    mutating func takePostponed() -> (report: TopicCompletion, app: Int)? {
        while let key = postponed.popLast() {
            entries[key]?.isListed = false
            if let report = entries[key]?.postponed {
                entries[key]?.postponed = nil
                return (report, key.app)
            }
        }
        return nil
    }

    /// Forgets a removed topic.
    mutating func forget(_ birth: UInt64, apps: Int) {
        guard perApp > 1 else { return }
        for app in 0..<apps {
            for scope in CompletionScope.allCases { entries[Key(birth: birth, app: app, scope: scope)] = nil }
        }
    }

    /// Forgets all reports, because all topics' states are sent again.
    mutating func removeAll() { (entries, postponed) = ([:], []) }

    /// Describes an entry whose question is put off and would never be asked; `nil` if there is none.
    func violation() -> String? {
        let listed = Set(postponed)
        let isLost = entries.contains { key, entry in
            entry.isListed ? !listed.contains(key) : entry.postponed != nil
        }
        return isLost ? "a question about a topic's completion is put off for ever" : nil
    }
}
