/// What a lineup's audience has beside any other's: the rotation, what its newest version shows, and what waits for its interval.
/// Confined to its shard's thread.
final class Lineup {
    @exclusivity(unchecked) var rotation: Rotation
    /// What the newest version shows. Kept, and not read from the topics when a push is made: whoever is reached later must not
    /// see more than the version says, or would see the next one twice.
    @exclusivity(unchecked) var display = LineupState.Display()
    /// Which topic has the spotlight in it. The rotation's own may be elsewhere already, with what waits.
    @exclusivity(unchecked) var lit: Int?
    /// Publications that are in no version yet: the next one carries them.
    @exclusivity(unchecked) var waiting: [UInt64] = []
    /// When the newest version came out, monotonic nanoseconds. Later than now while alerts are gathered: when it will.
    @exclusivity(unchecked) var publishedAt: Int64?
    /// Brings this lineup back; `nil`: nothing does.
    @exclusivity(unchecked) var wakeUp: TimingWheel.Entry?

    /// In the shard's `LineupTable`.
    @exclusivity(unchecked) var row = 0
    /// It has rested, and its audience does not know the alerts of before.
    @exclusivity(unchecked) var historyIsShort = false
    /// Counts the lineups that this object has been.
    @exclusivity(unchecked) var tenant: UInt64 = 0

    /// What tells lineups apart: the same topics, as the shard numbers them, in the same order.
    struct Choice: Hashable {
        let topics: [Int]
        /// Index into `topics`.
        let pinned: Int?
    }

    init(rotation: Rotation) { self.rotation = rotation }

    /// The newest version's sweep has not begun, because an alert waits for others: whatever comes now leaves with it.
    func isGathering(at now: Int64) -> Bool { publishedAt.map { now < $0 } ?? false }

    /// What is not urgent may be a version now.
    func mayPublish(after interval: Int64, at now: Int64) -> Bool {
        publishedAt.map { now < $0 || $0 + interval <= now } ?? true
    }

    /// Topics in one lineup. What a person can follow, and what a content state has room for, is far below.
    static let topicsMax = 64
}
