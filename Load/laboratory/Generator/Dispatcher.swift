/// Hands arrivals over at their planned moments, and measures how late it does so. Open loop: a slow receiver changes no planned
/// moment.
///
/// Lateness is the generator's own: time for which the receiver had no room does not count. The dispatcher knows neither thread nor
/// clock; all times are nanoseconds of one clock.
package struct Dispatcher: Sendable {
    package enum Next: Equatable, Sendable {
        /// Nothing is due before this moment.
        case at(Int64)
        /// The receiver has no room.
        case room
        case over
    }

    private let arrivals: [Schedule.Arrival]
    private let start: Int64
    private let measuredFrom: Int64
    private var next = 0
    /// Since when the receiver has had no room; `nil` while it has.
    private var fullSince: Int64?
    /// Time for which the receiver had no room and that the dispatcher has not caught up with.
    private var debt: Int64 = 0
    /// Lateness of the measured arrivals.
    package private(set) var lateness = LatencyHistogram()
    /// Nanoseconds of the measured time for which the receiver had no room.
    package private(set) var full: Int64 = 0

    /// - Parameter start: moment of the schedule's start.
    package init(_ schedule: Schedule, start: Int64) {
        arrivals = schedule.arrivals
        self.start = start
        measuredFrom = schedule.measured.lowerBound
    }

    /// Arrivals that have not been handed over.
    package var left: Int { arrivals.count - next }

    /// Hands over what is due.
    ///
    /// - Parameters:
    ///   - clock: read once for each arrival, because handing over takes time.
    ///   - offer: returns `false` if there is no room; the arrival is offered again later.
    package mutating func run(clock: () -> Int64, offer: (Schedule.Arrival) -> Bool) -> Next {
        while next < arrivals.count {
            let arrival = arrivals[next]
            let planned = start + arrival.planned
            let now = clock()
            guard planned <= now else {
                debt = 0
                return .at(planned)
            }
            if let since = fullSince {
                debt += now - since
                full += max(0, now - max(since, start + measuredFrom))
                fullSince = nil
            }
            guard offer(arrival) else {
                fullSince = now
                return .room
            }
            next += 1
            debt = min(debt, now - planned)
            if arrival.planned >= measuredFrom { lateness.record(nanoseconds: now - planned - debt) }
        }
        return .over
    }
}
