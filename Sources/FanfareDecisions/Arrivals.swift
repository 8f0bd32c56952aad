import FanfareModel

/// What has come of a topic's feed, and when: the ids of its events, how far its times have come, and how they go beside log time.
struct Arrivals: Sendable {
    private var recentIDs: RecentIDs
    /// Greatest event time so far, as far as log time had come: what is older by more than the rules' tolerance is late.
    private(set) var newestAt: FeedTime?
    private var lag = FeedLag()
    /// When the topic's turn began, by the time of its start, where its rules begin it afresh.
    private(set) var turnBeganAt = FeedTime.plausible.lowerBound
    /// The usual time between two events, in milliseconds: their mean, recent ones weighing more. No `Duration`, whose arithmetic
    /// is 128 bits wide, for what every event does.
    private(set) var gapMilliseconds: Int64?
    private var newestNow: FeedTime?

    /// - Parameter idsMax: events whose ids are remembered.
    init(idsMax: Int) { recentIDs = RecentIDs(capacity: idsMax) }

    /// An event has come, whatever became of it.
    mutating func count(at now: FeedTime) {
        if let newestNow, now > newestNow {
            let last = now.milliseconds - newestNow.milliseconds
            // The mean of about the last eight.
            gapMilliseconds = gapMilliseconds.map { ($0 * 7 + last) / 8 } ?? last
        }
        newestNow = now
    }

    /// Whether an event with this id has been taken.
    func contains(_ id: String) -> Bool { recentIDs.contains(id) }

    /// An event with this id is taken.
    mutating func insert(_ id: String) { recentIDs.insert(id) }

    /// How much older than the newest event this one is; `nil`: it is the newest.
    @inline(__always)
    func age(of event: FeedEvent) -> Duration? { newestAt.flatMap { $0 > event.at ? $0 - event.at : nil } }

    /// Whether the event says that the feed catches up with log time.
    func isBehind(_ event: FeedEvent, now: FeedTime) -> Bool {
        lag.hasShrunk(to: now.milliseconds - event.at.milliseconds)
    }

    /// The feed's times have come to that of an event.
    ///
    /// - Parameters:
    ///   - isNewest: no event before it was newer.
    ///   - beginsTurn: its topic's turn begins with it.
    mutating func advance(to at: FeedTime, isNewest: Bool, beginsTurn: Bool, now: FeedTime) {
        if isNewest { lag.note(now.milliseconds - at.milliseconds, at: now.milliseconds) }
        newestAt = max(at, newestAt ?? at)
        if beginsTurn { turnBeganAt = at }
    }

    /// The feed's times and ids count from here. How often it speaks is still known.
    mutating func reset(idsMax: Int) {
        recentIDs = RecentIDs(capacity: idsMax)
        newestAt = nil
        lag = FeedLag()
        turnBeganAt = FeedTime.plausible.lowerBound
    }
}
