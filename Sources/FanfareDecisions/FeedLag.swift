import FanfareModel

/// Lag of a feed's times behind log time, to detect a feed that catches up, as after a restart, when it delivers its backlog.
///
/// A slow clock or a slow feed lags by a nearly constant time; a backlog arrives faster than it happened. So the measure is how far
/// the lag has shrunk within about a minute. A lag is a number of milliseconds and no `Duration`, because every event has one.
struct FeedLag: Sendable {
    /// Greatest lag of the last minute.
    private var greatest = Int64.min
    private var greatestAt = FeedTime(milliseconds: .min)

    private static let span: Int64 = 60_000
    /// Normal variation of a constant lag: times truncated to the minute, batches, a stall.
    private static let tolerance: Int64 = 90_000

    /// Returns `true` if an event with this lag shows that the feed is catching up.
    func hasShrunk(to lag: Int64) -> Bool { greatest > lag && greatest - lag > FeedLag.tolerance }

    /// Records the lag of an event that is no older than any before it.
    mutating func note(_ lag: Int64, at now: FeedTime) {
        if lag <= greatest, now.milliseconds - greatestAt.milliseconds < FeedLag.span { return }
        (greatest, greatestAt) = (lag, now)
    }
}

extension FeedLag {
    func write(to writer: inout SerialWriter) {
        writer.write(signed: greatest)
        writer.write(greatestAt)
    }

    init(reading reader: inout SerialReader) throws(SerialError) {
        greatest = try reader.signed()
        greatestAt = try reader.time()
        // No difference of two such lags or times overflows.
        guard (greatest == .min) == (greatestAt.milliseconds == .min), FeedLag.isPlausible(greatest),
            FeedLag.isPlausible(greatestAt.milliseconds)
        else { throw .malformed("lag") }
    }

    private static func isPlausible(_ value: Int64) -> Bool { value == .min || value.magnitude < 1 << 60 }
}
