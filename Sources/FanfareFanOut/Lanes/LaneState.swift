import FanfareQueues

/// An audience's state in `Lanes`: its lane, the queues in which it has an entry, and its remaining visits. Only `Lanes` changes it.
///
/// An audience is served in one lane, parked, or neither; an entry that is left in another lane's queue is skipped.
struct LaneState {
    /// The queues in which a member has an entry.
    private struct Places: OptionSet {
        let rawValue: UInt8
        init(rawValue: UInt8) { self.rawValue = rawValue }
        init(_ lane: Int) { rawValue = 1 << UInt8(lane) }
    }

    /// The lane in which the audience is served; `nil` for none.
    private(set) var current: Int?
    private var entries = Places()
    /// Visits that are left before the next audience of the lane is served.
    private(set) var deficit = 0
    /// The timer at which the audience returns to its lane; `nil` while it is not parked.
    private(set) var parked: ShardTimers.Entry?

    /// Is `true` when the audience stands in no lane, has no entry in any lane's queue, and is not parked.
    var isIdle: Bool { current == nil && entries.isEmpty && parked == nil }

    /// Moves the audience to a lane, with a new turn.
    ///
    /// - Returns: whether it had no entry in that lane's queue and needs one now.
    mutating func enter(_ lane: Int, turn: Int) -> Bool {
        current = lane
        deficit = turn
        return entries.insert(Places(lane)).inserted
    }

    mutating func leave() { current = nil }

    /// Forgets the entry that was removed from that lane's queue.
    mutating func dropEntry(in lane: Int) { entries.remove(Places(lane)) }

    /// Renews the visits for the audience's next turn.
    mutating func renewTurn(_ turn: Int) { deficit = turn }

    mutating func charge(_ visits: Int) { deficit -= visits }

    mutating func park(until timer: ShardTimers.Entry) {
        parked = timer
        current = nil
    }

    /// Ends the parking.
    ///
    /// - Returns: the timer that would have ended it.
    @discardableResult mutating func unpark() -> ShardTimers.Entry? { parked.take() }

    /// Describes a lane that has no entry of the audience, or in which the audience stands although it is parked; `nil` if there is none.
    func violation() -> String? {
        guard let current else { return nil }
        guard entries.contains(Places(current)) else { return "an audience stands in lane \(current) without an entry" }
        return parked == nil ? nil : "a parked audience stands in lane \(current)"
    }
}
