import FanfareLog
import FanfareModel

/// What people have of what topics show: from earlier processes, as the store tells, and as all shards of an app have reported it.
struct PeopleCompletions {
    /// Is `true` if the shards report completions.
    private(set) var areKept = false
    /// What people have from earlier processes, until the end of the recall; `nil` if that counts no more.
    private var earlier: EarlierCompletions?
    private var outdated: [CompletionKey] = []
    private var shards: ShardTopicCompletions

    /// - Parameter perApp: number of shards of each app.
    init(perApp: Int) { shards = ShardTopicCompletions(perApp: perApp) }

    /// Keeps completions from here on.
    ///
    /// - Parameter earlier: what people have from earlier processes.
    mutating func keep(_ earlier: EarlierCompletions) {
        self.earlier = earlier
        areKept = true
    }

    /// Returns what people had from earlier processes, and forgets it; `nil` if that counts no more.
    mutating func takeEarlier() -> EarlierCompletions? { earlier.take() }

    /// Returns whether people have this version from earlier processes.
    func areOf(_ publication: Publication, app: AppID?) -> Bool { earlier?.isOf(publication, app: app) ?? false }

    /// Forgets what people have from earlier processes if topics may show something else since: a version may mean something else under other rules than
    /// under those by which people got it.
    ///
    /// - Parameter position: position of the newest rules under which topics may show something else; `nil` without any.
    mutating func noteChange(at position: LogPosition?) {
        if let earlier, let position, position > earlier.through { self.earlier = nil }
    }

    /// Ends the recall.
    ///
    /// - Parameter publications: what topics show.
    mutating func noteShown(_ publications: [Publication]) { outdated = earlier?.outdated(by: publications) ?? [] }

    /// Removes and returns the places of completions in the store that are not of what topics show at the end of the recall.
    mutating func takeOutdated() -> [CompletionKey] {
        defer { outdated = [] }
        return outdated
    }

    // MARK: Reports of shards

    /// Takes the report of a shard about the newest version of a topic.
    ///
    /// - Returns: the completion of the topic in the app; `nil` while shards are missing, or too many people lack the version.
    mutating func take(_ report: TopicCompletion, app: Int, shard: Int) -> TopicCompletion? {
        shards.take(report, app: app, shard: shard)
    }

    /// Returns the shards of the app that have to be asked about the topic of a report for joiners.
    func behind(_ report: TopicCompletion, app: Int) -> [Int] { shards.behind(report, app: app) }
    /// Forgets a topic that is no more.
    mutating func forget(_ birth: UInt64, apps: Int) { shards.forget(birth, apps: apps) }
    /// Forgets all reports, because everybody is sent once more what the topics show.
    mutating func removeReports() { shards.removeAll() }
}
