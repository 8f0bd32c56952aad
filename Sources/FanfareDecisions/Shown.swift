import FanfareModel

/// What people have been shown of a topic: its newest version, and whether that was the last.
///
/// `state`, `startedAt` and `publishedAt` are `nil` together: before the first publication, and again when a topic that has ended
/// begins again. Only versions always count up, because phones and shards know the topic by them.
struct Shown: Sendable {
    /// The newest version's.
    private(set) var state: JSONObject?
    private(set) var startedAt: FeedTime?
    /// Of the newest publication; 0 before the first.
    private(set) var version: UInt32
    private(set) var publishedAt: FeedTime?
    private(set) var ended = false
    /// `TopicRules.beginsWhen` held of `state`.
    private(set) var hasBegun = false
    /// An operator lets the feed of a topic that has ended begin it again, whatever its rules say.
    private(set) var mayReopen = false

    /// - Parameter version: the last one that was shown under the topic's id.
    init(version: UInt32 = 0) { self.version = version }

    /// A version goes out.
    ///
    /// - Parameter isLast: it ends the topic.
    /// - Returns: since when the topic has been shown.
    mutating func publish(_ state: JSONObject, hasBegun: Bool, isLast: Bool, now: FeedTime) -> FeedTime {
        let started = startedAt ?? now
        startedAt = started
        version += 1
        self.state = state
        publishedAt = now
        self.hasBegun = hasBegun
        if isLast { ended = true }
        return started
    }

    /// From here on it goes as with a topic that was never shown.
    mutating func reopen() { self = Shown(version: version) }

    mutating func allowReopening() { mayReopen = ended }

    /// The earliest moment at which an update that can wait may go out.
    func nextUpdate(after interval: Duration, now: FeedTime) -> FeedTime { publishedAt.map { $0 + interval } ?? now }
}
