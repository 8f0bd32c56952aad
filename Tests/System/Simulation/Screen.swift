import FanfareFanOut
import FanfareModel

/// What a device shows: the truth, of which a shard learns by answers and tokens only.
struct Screen {
    /// State on the card; `nil` before the first push that the device has taken.
    private(set) var state: [UInt8]?
    /// Is `true` once a start has brought the card; for activities that a push starts.
    private(set) var hasStarted = false
    /// Is `true` once an end has arrived.
    private(set) var hasEnded = false

    /// Is `true` if a device takes the stamp: devices drop stamps that are half a minute old or eight hours ahead.
    static func takes(_ stamp: Int64, at truth: Moment) -> Bool {
        stamp > truth.wallSeconds - 30 && stamp <= truth.wallSeconds + 8 * 3600
    }

    mutating func sentStart(arrives: Bool) { hasStarted = arrives }

    /// Notes that the start was lost on its way.
    mutating func lostStart() { hasStarted = false }

    mutating func answered(_ flight: Flight) {
        let hasArrived = flight.outcome == .accepted || flight.arrives
        if hasArrived, flight.isTaken { state = flight.payload.state }
        if hasArrived, flight.payload.event == .end { hasEnded = true }
    }
}
