import FanfareModel

/// Bounds the pulls in one turn of the loop, which many turns of the pool share: one for each connection that is read. Commands of other
/// threads, and the answers of other connections, wait for the end of the loop's turn.
struct PullTurn {
    /// Time for pulls.
    private static let timeMax = Duration.milliseconds(4)
    /// Maximum number of pulls in one turn of the pool. Room alone does not bound a turn, because payloads that cannot be encoded need none.
    private static let pullsMax = 256
    /// Pause after a turn that was cut short. The loop runs a timer without a delay again and again before it polls its sockets.
    static let pause = Duration.milliseconds(1)

    /// The loop's turn in which pulls were last made, and the time of its first one.
    private var loopTurn = UInt64.max
    private var began = MonotonicTime.always
    private var pulls = 0
    /// `true` if the pool's last turn ended although there was still work and room.
    private(set) var isCutShort = false
    /// Time until which pulls are spread over all connections, because some of them have been asked for a sign of life.
    var spreadsUntil = MonotonicTime.always

    /// Begins a turn of the pool.
    mutating func begin() {
        pulls = 0
        isCutShort = false
    }

    /// Returns `true` if one more pull may be made. The first one of the loop's turn always may.
    mutating func mayPull(in turn: UInt64, at now: MonotonicTime) -> Bool {
        if turn != loopTurn { (loopTurn, began) = (turn, now) }
        pulls += 1
        isCutShort = pulls > PullTurn.pullsMax || now - began > PullTurn.timeMax
        return !isCutShort
    }

    /// Ends the turn, because pulls need a later reading of the clock.
    mutating func cutShort() { isCutShort = true }
}
