/// One reading of the fan-out's clocks, taken once per loop turn and passed down. Never seen by decisions.
@usableFromInline package struct Moment: Sendable, Equatable {
    /// Unix milliseconds, as the wall clock says; may jump, either way. For dates and quiet hours only.
    @usableFromInline package var wallMilliseconds: Int64
    /// Milliseconds that the time of stamps is ahead of the wall.
    @usableFromInline package var stampLead: Int64
    /// How often since the start the clock was set in such a way that phones may have dropped what was stamped before.
    @usableFromInline package var stampEpoch: UInt32
    /// Nanoseconds from an arbitrary start; never goes back. For backoff, freshness and every measurement.
    @usableFromInline package var monotonicNanoseconds: Int64

    /// - Parameter stampMilliseconds: the wall's, if nothing is said.
    @inlinable package init(
        wallMilliseconds: Int64, monotonicNanoseconds: Int64, stampMilliseconds: Int64? = nil, stampEpoch: UInt32 = 0
    ) {
        self.wallMilliseconds = wallMilliseconds
        self.monotonicNanoseconds = monotonicNanoseconds
        stampLead = stampMilliseconds.map { $0 - wallMilliseconds } ?? 0
        self.stampEpoch = stampEpoch
    }

    /// Unix milliseconds, for stamps only: never behind the wall and never back, but where the clock is put right by many hours.
    @inlinable package var stampMilliseconds: Int64 { wallMilliseconds + stampLead }
    @inlinable package var wallSeconds: Int64 { wallMilliseconds / 1000 }
    /// UTC; 0…1439.
    @inlinable package var minuteOfDay: Int { Int(max(0, wallSeconds) / 60 % 1440) }
}
