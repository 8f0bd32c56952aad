/// One reading of the fan-out's clocks, taken once per loop turn and passed down. Decisions never see it.
@usableFromInline package struct Moment: Sendable, Equatable {
    /// Unix milliseconds of the wall clock; may jump in either direction. For dates and quiet hours only.
    @usableFromInline package var wallMilliseconds: Int64
    /// Milliseconds by which the time of stamps is ahead of the wall clock.
    @usableFromInline package var stampLead: Int64
    /// Number of clock changes since the start after which phones may have dropped earlier stamps.
    @usableFromInline package var stampEpoch: UInt32
    /// Bounds on stamps from the engine's store.
    @usableFromInline package var stamps: StampBounds
    /// Grounds for going by the wall clock.
    @usableFromInline package var trust: WallTrust
    /// For backoff, freshness and every measurement.
    @usableFromInline package var monotonic: MonotonicTime

    /// - Parameter stampMilliseconds: the time of stamps; `nil` uses the wall clock's.
    @inlinable package init(
        wallMilliseconds: Int64, monotonicNanoseconds: Int64, stampMilliseconds: Int64? = nil, stampEpoch: UInt32 = 0,
        trust: WallTrust = .assumed
    ) {
        self.wallMilliseconds = wallMilliseconds
        monotonic = MonotonicTime(nanoseconds: monotonicNanoseconds)
        stampLead = stampMilliseconds.map { $0 - wallMilliseconds } ?? 0
        self.stampEpoch = stampEpoch
        stamps = StampBounds()
        self.trust = trust
    }

    /// Unix milliseconds for stamps only: never behind the wall clock, and never back unless the clock is corrected by many hours.
    @inlinable package var stampMilliseconds: Int64 { wallMilliseconds + stampLead }
    @inlinable package var wallSeconds: Int64 { wallMilliseconds / 1000 }
    /// The wall clock's time beside those of a feed.
    package var wall: FeedTime { FeedTime(milliseconds: wallMilliseconds) }
    /// Minute of the day in UTC, 0…1439.
    @inlinable package var minuteOfDay: Int { Int(max(0, wallSeconds) / 60 % 1440) }
}
