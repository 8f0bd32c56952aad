package import FanfareLog
package import FanfareModel

/// A store's knowledge of the process before this one, for loaded cards.
package struct EarlierProcess: Sendable {
    private let claimed: ClaimedActivities
    /// Versions of topics that people have.
    package let completions: EarlierCompletions
    /// Is `true` if the store has void completions.
    package let hasVoidCompletions: Bool
    /// Is `true` if a claim names each start that has left and has no token.
    package let knowsStarts: Bool
    /// Log time of the last entry.
    private let now: FeedTime
    /// Newest wall clock time that is known from the log.
    private let wall: FeedTime?
    /// Time by which log time lay behind the wall clock then.
    private let lag: Duration

    /// Entries that are searched for one with a wall clock time, from the last one back.
    private static let searchMax: LogPosition = 4096

    /// - Parameters:
    ///   - read: reads the claims and completions of the store into its argument.
    package init(_ log: any Log, read: (inout Deliveries) throws -> Void) throws {
        var now = FeedTime.plausible.lowerBound
        var seen: (now: FeedTime, wall: FeedTime)?
        // The recall reports a damaged entry that a checkpoint covers. The last entry alone still gives the newest log time.
        for count in [EarlierProcess.searchMax, 1] where log.end > 0 {
            let first = log.end - min(log.end - 1, count - 1)
            do throws(LogError) {
                try log.read(from: max(first, log.start)) { (_, entry) throws(LogError) in
                    if entry.now.isPlausible { now = entry.now }
                    if case .event(_, let wall?) = entry.body, wall.isPlausible { seen = (entry.now, wall) }
                    return true
                }
                break
            } catch { continue }
        }
        self.now = now
        wall = seen?.wall
        lag = seen.map { $0.wall - $0.now } ?? .zero
        var found = Deliveries(now: now)
        try read(&found)
        claimed = found.claimed
        // A replay without claims, or a release that knows no completions, may have used the store last. The recall reports a damaged entry.
        let isOfLog = try? found.head?.isOf(log)
        let areValid = found.start != nil && isOfLog == true
        // The people of a restored backup are older than the claims, which may have expired since. Without a head this is unknown.
        knowsStarts = found.start != nil && isOfLog != false
        completions = areValid ? found.completions : EarlierCompletions()
        hasVoidCompletions = !areValid && !found.completions.isEmpty
    }

    /// Deliveries that a store knows.
    package struct Deliveries {
        private(set) var claimed: ClaimedActivities
        private(set) var completions = EarlierCompletions()
        private(set) var head: CompletionHead?
        /// `ClaimStore.start`.
        var start: FeedTime?
        private let now: FeedTime

        init(now: FeedTime) { (self.now, claimed) = (now, ClaimedActivities(now: now)) }

        mutating func insert(_ claims: StoredClaims) { claimed.insert(claims) }
        mutating func insert(_ completion: StoredCompletion, at key: CompletionKey) {
            completions.insert(completion, at: key)
        }

        /// Reads the store's claims and completions, in place of earlier ones.
        package mutating func read(_ store: any ClaimStore) throws(LogError) {
            self = Deliveries(now: now)
            try store.read { insert($0) }
            head = try store.readCompletions { insert($1, at: $0) }
            completions.through = head?.position ?? 0
            start = store.start
        }
    }

    /// Returns bounds on the alerts that go on.
    ///
    /// - Parameter start: log time since when all alerts have left with claims; `nil` if they have not.
    package func horizon(since start: FeedTime?, wall: @escaping () -> FeedTime) -> AlertHorizon? {
        // Only the wall clock tells the downtime. A clock that was set back does not tell an alert's age.
        guard let start, self.wall.map({ wall() >= $0 }) ?? true else { return nil }
        return AlertHorizon(since: start, now: now, wall: wall)
    }

    /// Returns a line for operators about the alerts that go on, or why none does; `nil` if there is nothing to say.
    ///
    /// - Parameter wall: wall clock time.
    func report(_ unfinished: [RecentAlert], wall now: FeedTime) -> String? {
        if let wall, now < wall {
            return
                "the machine's clock is behind that of the last event, so no alert of the process before this one goes on; check the clock"
        }
        guard !unfinished.isEmpty else { return nil }
        let topics = Set(unfinished.map(\.topic)).count
        return
            "alerts of the process before this one go on to those whom they had not reached: \(unfinished.count) of \(topics) topics; "
            + "\(claimed.count) activities may have had one, and get the state without it"
    }

    /// Returns whether a claim names the start, so that it may have left.
    ///
    /// - Parameter app: app of the activity; `nil` if nothing is sent to APNs.
    func isClaimed(_ start: StartMark, app: AppID?) -> Bool { claimed.mayHaveLeft(start, app: app) }

    /// Returns the activity's deliveries.
    func delivery(_ subscription: Subscription, startedAt: FeedTime?, app: AppID?) -> EarlierDelivery {
        EarlierDelivery(
            settledThrough: settledThrough(subscription, startedAt: startedAt, app: app),
            topicsShown: completions.topicsShown(by: subscription, app: app),
            hasJoinedLast: subscription.joinedAt.map { $0 >= now } ?? false)
    }

    /// Returns the log time through which alerts of the activity's topic do not concern it: they may have left for it, or it joined after them; `nil`
    /// if all alerts that go on concern it.
    ///
    /// - Parameters:
    ///   - startedAt: beginning of the card, for a card whose time of joining is unknown.
    ///   - app: app of the activity; `nil` if nothing is sent to APNs.
    func settledThrough(_ subscription: Subscription, startedAt: FeedTime?, app: AppID?) -> FeedTime? {
        let joined =
            subscription.joinedAt ?? startedAt.map { FeedTime(milliseconds: $0.milliseconds &- lag.milliseconds) }
        // Most cards joined before any alert that goes on: nothing is kept for them.
        let recent = joined.flatMap { $0.milliseconds > now.milliseconds - AlertClaim.ageMax.milliseconds ? $0 : nil }
        let mark = ActivityMark(subscription.activity, token: subscription.token)
        // A lineup's alerts are claimed together: one that was granted before a claim of another topic is in a claim of its own.
        let claims = subscription.audience.topics.compactMap { claimed.claimed(mark, of: $0, app: app) }
        return ([recent].compactMap(\.self) + claims).max()
    }
}
