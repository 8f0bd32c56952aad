import FanfareModel

/// A rotation without its favourite in few bytes, for lineups at rest, of which there are very many. `Rotation` makes it, and alone reads it.
struct RestingRotation: BitwiseCopyable {
    /// Position in the spotlight; 255 means none.
    let position: UInt8
    /// Weight of the news that hold the spotlight; 255 means that it is not held.
    let weight: UInt8
    let dwellEnds: MonotonicTime
    /// The time at which a cycle moves on; `always` means none.
    let turnEnds: MonotonicTime
    let debt: Int64
    let debtAt: FeedTime
}
