/// When a connection in place of another may be opened, whatever ended that one: beyond two for each seat, no more than ten in a second
/// for all pools of an app, or a peer that finds us too much is asked again as fast as it answers.
///
/// A connection that has carried `earnedBy` pushes was worth its handshake, which costs a peer as much as some hundred of them: the one in
/// its place does not count.
///
/// All times are monotonic nanoseconds.
struct Replacements {
    static let interval: Int64 = 100_000_000
    static let freePerSeat: Int64 = 2
    static let earnedBy: UInt64 = 500

    /// When the next one is due; before now while there were few.
    private var due = Int64.min

    /// - Parameters:
    ///   - wait: that is due for another reason.
    ///   - seats: of this pool.
    ///   - pools: that share the peer.
    /// - Returns: when it may be opened.
    mutating func next(after wait: Int64, seats: Int, pools: Int, at now: Int64) -> Int64 {
        let interval = Replacements.interval * Int64(max(1, pools))
        let opens = max(now + wait, due)
        let free = Replacements.freePerSeat * Int64(max(1, seats))
        due = max(due, now - (free - 1) * interval) + interval
        return opens
    }

    /// The last one is not needed after all: what it was to replace has answered well, or is counted anew.
    mutating func giveBack(pools: Int) {
        if due > .min { due -= Replacements.interval * Int64(max(1, pools)) }
    }

    /// What comes is not for the peer's sake.
    mutating func forget() { due = .min }
}
