extension ConnectionPool {
    /// A place for one connection, which is replaced when it ends.
    struct Seat {
        var connection: Connection?
        /// Between connections that opened and were of little use: APNs takes ever new ones for an attack (spec §10).
        var backoff = Backoff(first: .milliseconds(100), most: ConnectionPool.seatWaitMax)
        /// Between attempts of which none opened. They are a burden to nobody, and when APNs is back after an outage, people wait
        /// for the next one.
        var dialBackoff = Backoff(first: .milliseconds(100), most: .seconds(5))
        /// Between connections that were ended while they had nothing to do.
        var restBackoff = Backoff(first: .milliseconds(100), most: .seconds(5))
        /// Monotonic nanoseconds; when there is no connection, or one that is in doubt.
        var opensAt: Int64 = 0
        /// The connection gives way to another one at `opensAt`.
        var isInDoubt = false
        /// A connection in it has been of use: the peer has wanted so many.
        var hasCarried = false
        /// Connections that the peer ended, or did not take, one after the other, and since when.
        var refusals = 0
        var refusedSince: Int64?
        /// Its first connection has neither opened nor failed.
        var isUntried = false
        /// It dials, or its last attempts have failed.
        var isAsking: Bool { connection?.isDialing == true || dialBackoff.attempts > 0 }

        mutating func forgetTrouble() {
            backoff.reset()
            restBackoff.reset()
            (refusals, refusedSince) = (0, nil)
        }
    }
}
