import FanfareModel
import FanfareQueues

/// The additional state of a lineup's audience: its rotation, the content of its newest version, and changes that wait for its minimum
/// interval. Confined to its shard's thread.
final class Lineup {
    @safe @exclusivity(unchecked) var rotation: Rotation
    /// The content of the newest version. It is kept, and not read from the topics when a push is made: otherwise a member that is served late
    /// would see more than the version has, and then the same content again with the next one.
    @safe @exclusivity(unchecked) var display = LineupJSON.Display()
    /// Position of the topic in the spotlight of the newest version. The rotation may be ahead of it, with changes that wait.
    @safe @exclusivity(unchecked) var publishedSpotlight: Int?
    /// Publications that are in no version yet: the next one carries them.
    @safe @exclusivity(unchecked) private(set) var deferred: [UInt64] = []
    /// The time of the newest version; `always` if the lineup was made with it. While alerts are gathered, it is the later time at which its sweep
    /// will begin.
    @safe @exclusivity(unchecked) var publishedAt = MonotonicTime.always
    /// The timer of this lineup's next wake-up; `nil` if there is none.
    @safe @exclusivity(unchecked) var wakeUp: ShardTimers.Entry?

    /// Row in the shard's `LineupTable`.
    @safe @exclusivity(unchecked) var row = 0
    /// Is `true` when the lineup has rested and its audience lacks the alerts from before.
    @safe @exclusivity(unchecked) var historyIsShort = false
    /// Is `true` when `display` does not have the content of the newest version, because the lineup's state comes from its row.
    @safe @exclusivity(unchecked) var displayIsOld = false
    /// Is `true` when `wakeUp` is due at once, for news that no cursor brings any more.
    @safe @exclusivity(unchecked) var awaitsNews = false

    init(rotation: Rotation) { self.rotation = rotation }

    /// Takes over the state of a lineup that was at rest. Its content is to be made anew.
    func wake(_ state: RestingLineup, _ rules: LineupRules) {
        row = state.row
        rotation = Rotation(state.rotation, rules, pinned: state.pinned)
        publishedSpotlight = state.spotlight
        publishedAt = state.publishedAt
        wakeUp = state.wakeUp
        historyIsShort = true
        displayIsOld = true
        awaitsNews = false
    }

    /// Adds a publication to those that the next version carries. The list is bounded like `TrackedPublications`: those that have waited longest
    /// stay.
    ///
    /// - Returns: the publication that this one overtakes; `nil` if fewer than `capacity` wait.
    func deferPublication(_ serial: UInt64, capacity: Int) -> UInt64? {
        let overtaken = deferred.count == capacity ? deferred.removeLast() : nil
        deferred.append(serial)
        return overtaken
    }

    /// Removes and returns the publications that wait for the next version.
    func takeDeferred() -> [UInt64] {
        defer { deferred = [] }
        return deferred
    }

    /// Returns whether the newest version's sweep has not begun, because an alert waits for others: a change that arrives now leaves with it.
    func isGathering(at now: MonotonicTime) -> Bool { now < publishedAt }

    /// Returns whether a change that is not urgent may become a version now.
    ///
    /// - Parameter interval: minimum interval between versions, nanoseconds.
    func mayPublish(after interval: Int64, at now: MonotonicTime) -> Bool {
        isGathering(at: now) || publishedAt.advanced(byNanoseconds: interval) <= now
    }

    /// Composes the state of the newest version. The topic in the spotlight is that of the version: each alert had the spotlight when it was new, and
    /// only the text shows an older alert that rides along.
    func compose(carrying pending: PendingAlert?, into bytes: inout [UInt8]) {
        let highlighted = pending.flatMap {
            $0.topic == display.topics[display.spotlight].publication.topicID ? $0.alert.highlight : nil
        }
        LineupJSON.compose(display, highlighting: highlighted, into: &bytes)
    }
}
