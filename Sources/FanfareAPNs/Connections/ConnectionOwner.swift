import FanfareHTTP2
import FanfareModel

/// A pool as its connections see it. Of its calls only `accepted` is made for each push; it costs a look-up in a table, and no reference is counted.
protocol ConnectionOwner: DialingPool {
    var isClosing: Bool { get }
    /// `true` if not all connections were full lately, or nothing was due.
    var hadRoom: Bool { get }
    /// `true` if the time of a PING is to count as the distance: no queue delays it, or nothing else is known.
    var measuresDistance: Bool { get }
    /// Requests that a connection may have in flight after its first answer.
    var widthAtFirst: Int { get }

    /// Lets the pool return completions and pull work, after events that may have changed anything.
    func turn(at moment: Moment)
    func opened(_ connection: Connection)
    /// Handles an event that may have made room on a connection.
    func mayHaveRoom(_ connection: Connection)
    /// Handles a connection whose output has left.
    func drained(_ connection: Connection)
    /// Handles a connection that has room but is asked for a sign of life first.
    func awaitSigns(at now: MonotonicTime)

    func accepted(_ request: SentRequest, at moment: Moment)
    func refused(_ request: SentRequest, status: Int, body: ErrorBody, on connection: Connection, at moment: Moment)
    /// Handles a stream that was reset, by the peer or by the connection after a timeout.
    func reset(_ request: SentRequest, _ code: ErrorCode, on connection: Connection, at moment: Moment)
    func notProcessed(_ request: SentRequest)
    /// Handles a request whose outcome is unknown.
    func lost(_ request: SentRequest)

    /// Handles a good answer on a connection that was in doubt.
    func regainedTrust(_ connection: Connection)
    /// Handles the answer with which a connection has succeeded often enough for a short wait after its end.
    func succeeded(_ connection: Connection)
    /// Handles the answer to a PING.
    ///
    /// - Parameter stays: `true` if the connection has been open for a while and takes requests.
    func answeredPing(stays: Bool)

    /// Handles the end of a connection's stream ids.
    func exhausted(_ connection: Connection, at moment: Moment)
    /// - Parameter reason: `nil` for an ordinary end, which is not reported if the connection was useful.
    func receivedGoAway(_ connection: Connection, _ code: ErrorCode, reason: String?, at moment: Moment)
    /// Handles a connection whose SETTINGS have allowed no request for a while.
    func allowsNothing(_ connection: Connection, at moment: Moment)
    /// Handles a connection that fell silent with requests in flight.
    func fellSilent(_ connection: Connection, at now: MonotonicTime)
    /// - Parameter lingers: the connection carries nothing any more but is not closed yet; `ended` is called once more when it is.
    func ended(_ connection: Connection, _ ending: ConnectionEnding, lingers: Bool, at moment: Moment)
}
