/// What a life has found in the store when it began.
struct LifeBeginning {
    /// Serial of the next row of a card.
    let serials: UInt64
    /// Is `true` if the app was muted.
    let isMuted: Bool
    /// Is `true` if claims name each start of earlier lives that has left.
    let knowsStarts: Bool
}
