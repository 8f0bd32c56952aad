import FanfareLog
import FanfareModel

/// Completions of topics: those of earlier processes, from the store, and those that all shards of an app have reported.
struct PeopleCompletions {
    /// Is `true` if the shards report completions.
    private(set) var areKept = false
    /// Completions of earlier processes, until the end of the recall; `nil` if they are void.
    private var earlier: EarlierCompletions?
    private var outdated: [CompletionKey] = []
    private var shards: ShardTopicCompletions
    var joins = JoinTimes()

    /// - Parameter perApp: number of shards of each app.
    init(perApp: Int) { shards = ShardTopicCompletions(perApp: perApp) }

    /// Keeps completions from here on.
    ///
    /// - Parameter earlier: completions of earlier processes.
    mutating func keep(_ earlier: EarlierCompletions) {
        self.earlier = earlier
        areKept = true
    }

    /// Removes and returns the completions of earlier processes; `nil` if they are void.
    mutating func takeEarlier() -> EarlierCompletions? { earlier.take() }

    /// Returns whether the topic's followers have this version from earlier processes.
    func areOf(_ publication: Publication, app: AppID?) -> Bool { earlier?.isOf(publication, app: app) ?? false }

    /// Returns the log time before which the members of lineups joined that have this version from earlier processes; `nil` if the store names none.
    func joinersEnd(ofLineupsWith publication: Publication, app: AppID?) -> FeedTime? {
        earlier?.joinersEnd(of: publication, app: app, in: .lineups)
    }

    /// Forgets the completions of earlier processes if topics may show other states since: a version may mean another state under other rules.
    ///
    /// - Parameter position: position of the newest rules under which topics may show other states; `nil` without any.
    mutating func noteChange(at position: LogPosition?) {
        if let earlier, let position, position > earlier.through { self.earlier = nil }
    }

    /// Ends the recall.
    ///
    /// - Parameter publications: newest publication of each topic.
    mutating func noteShown(_ publications: [Publication]) { outdated = earlier?.outdated(by: publications) ?? [] }

    /// Removes and returns the places of stored completions of other states than the topics' at the end of the recall.
    mutating func takeOutdated() -> [CompletionKey] {
        defer { outdated = [] }
        return outdated
    }

    // MARK: Reports of shards

    /// Takes the report of a shard about the newest version of a topic.
    ///
    /// - Returns: the completion of the topic in the app, or that there is none any more; `nil` while shards are missing, or too many people lack the
    ///   version.
    mutating func take(_ report: TopicCompletion, app: Int, shard: Int) -> TopicCompletion? {
        shards.take(report, app: app, shard: shard)
    }

    /// Returns the shards of the app that have to be asked about the topic of a report, and notes that they are asked.
    mutating func takeBehind(_ report: TopicCompletion, app: Int) -> [Int] { shards.takeBehind(report, app: app) }
    /// Puts off the question about the topic of a report, because the way to the shards is full.
    mutating func postpone(_ report: TopicCompletion, app: Int) { shards.postpone(report, app: app) }
    var hasPostponed: Bool { shards.hasPostponed }
    /// Removes and returns a report whose question was put off; `nil` if there is none.
    mutating func takePostponed() -> (report: TopicCompletion, app: Int)? { shards.takePostponed() }
    /// Forgets a removed topic.
    mutating func forget(_ birth: UInt64, apps: Int) { shards.forget(birth, apps: apps) }
    /// Forgets all reports, because all topics' states are sent again.
    mutating func removeReports() { shards.removeAll() }

    /// Describes completions of earlier processes that nobody keeps, or a violated invariant of the parts; `nil` if there is none.
    func violation() -> String? {
        guard areKept || earlier == nil && outdated.isEmpty else { return "completions are kept without a store" }
        return joins.violation() ?? shards.violation()
    }
}
