/// Our PING frames: at most one is without its answer.
struct Pings {
    private var sent: UInt64 = 0
    private var awaitsPong = false

    /// Returns the content of a new PING, or nil while the earlier one is unanswered.
    mutating func next() -> UInt64? {
        guard !awaitsPong else { return nil }
        awaitsPong = true
        sent &+= 1
        return sent
    }

    /// Returns `true` if the content of an acknowledged PING is that of ours.
    mutating func acknowledge(_ content: UInt64) -> Bool {
        guard awaitsPong, content == sent else { return false }
        awaitsPong = false
        return true
    }
}
