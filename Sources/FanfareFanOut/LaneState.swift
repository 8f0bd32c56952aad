/// Where `Lanes` serves an audience, in which queues it has an entry, and what it may still send this turn. Only `Lanes` changes it.
///
/// An audience is served in one lane, parked, or neither; an entry in the queue of another lane is left behind, and skipped.
struct LaneState {
    /// `nil`: it is served in none.
    private(set) var current: Int?
    private var entries = Lanes.Places()
    /// Visits until it is the next one's turn.
    private(set) var deficit = 0
    /// Ends the time for which it is out of all lanes; `nil`: it is not.
    private(set) var parked: TimingWheel.Entry?

    /// Goes over to a lane, with a turn of its own.
    ///
    /// - Returns: whether it has no entry in that lane's queue, and gets one now.
    mutating func enter(_ lane: Int, turn: Int) -> Bool {
        current = lane
        deficit = turn
        return entries.insert(Lanes.Places(lane)).inserted
    }

    mutating func leave() { current = nil }

    /// Its entry in that lane's queue is gone.
    mutating func dropEntry(in lane: Int) { entries.remove(Lanes.Places(lane)) }

    /// Its turn is over; the next one is as long.
    mutating func renewTurn(_ turn: Int) { deficit = turn }

    mutating func charge(_ visits: Int) { deficit -= visits }

    mutating func park(until timer: TimingWheel.Entry) {
        parked = timer
        current = nil
    }

    /// - Returns: the timer that would have ended it.
    @discardableResult mutating func unpark() -> TimingWheel.Entry? { parked.take() }
}
