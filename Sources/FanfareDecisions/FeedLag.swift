/// How far a feed's times are behind log time, and whether it is catching up, as after a restart, when it hands over what it has.
///
/// A clock that is behind, or a feed that takes its time, lags by about as much all the time; a backlog comes faster than it happened.
/// So what counts is how far the lag has shrunk within a minute, more or less. All times are milliseconds.
struct FeedLag: Sendable {
    /// The greatest lag of the last minute.
    private var greatest = Int64.min
    private var greatestAt = Int64.min

    private static let span: Int64 = 60_000
    /// By so much may what lags always lag more at one time than at another: times cut to the minute, batches, a stall.
    private static let tolerance: Int64 = 90_000

    /// Whether an event that lags by this says that the feed is catching up.
    func hasShrunk(to lag: Int64) -> Bool { greatest > lag && greatest - lag > FeedLag.tolerance }

    /// An event has come that is no older than those before.
    mutating func note(_ lag: Int64, at now: Int64) {
        if lag <= greatest, now - greatestAt < FeedLag.span { return }
        (greatest, greatestAt) = (lag, now)
    }
}
