import FanfareLog
import FanfareModel

/// What a store tells of the process before this one, for those who are loaded.
package struct EarlierProcess: Sendable {
    private let claimed: ClaimedActivities
    /// Log time of the last entry.
    private let now: FeedTime
    /// Wall clock time of the last entry; `nil` if it is not known.
    private let wall: FeedTime?
    /// Time by which log time lay behind the wall clock then.
    private let lag: Duration

    /// - Parameters:
    ///   - last: the log's last entry.
    ///   - readClaims: calls its argument with all claims.
    init(last: LogEntry?, readClaims: ((StoredClaims) -> Void) throws -> Void) rethrows {
        now = last?.now ?? FeedTime.plausible.lowerBound
        if case .event(_, let wall?)? = last?.body, wall.isPlausible {
            (self.wall, lag) = (wall, wall - now)
        } else {
            (wall, lag) = (nil, .zero)
        }
        var claimed = ClaimedActivities(now: now)
        try readClaims { claimed.insert($0) }
        self.claimed = claimed
    }

    /// Returns bounds on the alerts that go on.
    ///
    /// - Parameter start: log time since when all alerts have left with claims; `nil` if they have not.
    func horizon(since start: FeedTime?, wall: @escaping () -> FeedTime) -> EngineCore.AlertHorizon? {
        // Downtime is told by the wall clock alone. One that has gone back says nothing of how old an alert is.
        guard let start, self.wall.map({ wall() >= $0 }) ?? true else { return nil }
        return EngineCore.AlertHorizon(since: start, wall: wall)
    }

    /// Returns a line for operators about the alerts that go on; `nil` if there are none.
    func report(_ unfinished: [RecentAlerts.Entry]) -> String? {
        guard !unfinished.isEmpty else { return nil }
        let topics = Set(unfinished.map(\.topic)).count
        return
            "alerts of the process before this one go on to those whom they had not reached: \(unfinished.count) of \(topics) topics; "
            + "\(claimed.count) activities may have had one, and get the state without it"
    }

    /// Returns the log time through which alerts of the activity's topic do not concern it: they may have left for it, or it joined after
    /// them; `nil` if all of those that go on do.
    ///
    /// - Parameters:
    ///   - startedAt: time at which the card began, for one of which it is not known when it joined.
    ///   - app: app of the activity; `nil` if nothing is sent to APNs.
    func settledThrough(_ subscription: Subscription, startedAt: FeedTime?, app: AppID?) -> FeedTime? {
        guard case .topic(let topic) = subscription.audience else { return nil }
        let joined =
            subscription.joinedAt ?? startedAt.map { FeedTime(milliseconds: $0.milliseconds &- lag.milliseconds) }
        // Most cards joined before any alert that goes on, and nothing is kept of them.
        let recent = joined.flatMap { $0.milliseconds > now.milliseconds - AlertClaim.ageMax.milliseconds ? $0 : nil }
        let mark = ActivityMark(subscription.activity, token: subscription.token)
        return [recent, claimed.claimed(mark, of: topic, app: app)].compactMap(\.self).max()
    }
}
