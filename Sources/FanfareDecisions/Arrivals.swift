import FanfareModel

/// Record of a topic's arrivals: ids of its events, newest event time, usual gap between events, and lag behind log time.
struct Arrivals: Sendable {
    private var recentIDs: RecentIDs
    /// Greatest event time so far, each capped at its arrival. An event that is older by more than the rules' tolerance is late.
    @PackedTime private(set) var newestAt: FeedTime?
    private var lag = FeedLag()
    /// Event time of the start that began the topic's current tenure, if the topic's rules reopen it afresh.
    private(set) var tenureBeganAt = FeedTime.plausible.lowerBound
    /// Usual time between two events, in milliseconds: a mean that weights recent gaps more. Not a `Duration`, because every event
    /// updates it and `Duration` arithmetic is 128 bits wide.
    private(set) var gapMilliseconds: Int64?
    @PackedTime private var newestNow: FeedTime?

    /// - Parameter idsMax: number of event ids to remember.
    init(idsMax: Int) { recentIDs = RecentIDs(capacity: idsMax) }

    /// Updates the usual gap for an event that has arrived, whatever its outcome.
    mutating func count(at now: FeedTime) {
        if let newestNow, now > newestNow {
            let last = now.milliseconds - newestNow.milliseconds
            // Mean of about the last eight gaps.
            gapMilliseconds = gapMilliseconds.map { ($0 * 7 + last) / 8 } ?? last
        }
        newestNow = now
    }

    /// Returns `true` if an event with this id was taken before.
    func contains(_ id: String) -> Bool { recentIDs.contains(id) }

    /// Remembers the id of an event that was taken.
    mutating func insert(_ id: String) { recentIDs.insert(id) }

    /// Returns the age of an event relative to the newest one, or `nil` if no event is newer.
    @inline(__always)
    func age(of event: FeedEvent) -> Duration? { newestAt.flatMap { $0 > event.at ? $0 - event.at : nil } }

    /// Returns `true` if the event's lag shows that the feed is catching up with log time.
    func isBehind(_ event: FeedEvent, now: FeedTime) -> Bool {
        lag.hasShrunk(to: now.milliseconds - event.at.milliseconds)
    }

    /// Advances the feed's newest time to that of an event.
    ///
    /// - Parameters:
    ///   - isNewest: `true` if no earlier event was newer.
    ///   - beginsTenure: `true` if a tenure of the topic begins with the event.
    mutating func advance(to at: FeedTime, isNewest: Bool, beginsTenure: Bool, now: FeedTime) {
        if isNewest { lag.note(now.milliseconds - at.milliseconds, at: now) }
        newestAt = max(at, newestAt ?? at)
        if beginsTenure { tenureBeganAt = at }
    }

    /// Forgets the feed's ids, times and lag, so that they count from here. Keeps the usual gap.
    mutating func reset(idsMax: Int) {
        recentIDs = RecentIDs(capacity: idsMax)
        newestAt = nil
        lag = FeedLag()
        tenureBeganAt = FeedTime.plausible.lowerBound
    }

    /// Describes a tenure that began after the newest event, a gap without an arrival, or wrong ids; `nil` if there are none. For tests.
    func violation() -> String? {
        guard tenureBeganAt == FeedTime.plausible.lowerBound || newestAt.map({ tenureBeganAt <= $0 }) == true else {
            return "the tenure began at \(tenureBeganAt), and no event is as new"
        }
        if let gapMilliseconds, gapMilliseconds < 0 || newestNow == nil {
            return "a gap of \(gapMilliseconds) ms is usual, after no event or one that came later"
        }
        return recentIDs.violation()
    }
}

extension Arrivals {
    func write(to writer: inout SerialWriter) {
        recentIDs.write(to: &writer)
        writer.write(newestAt)
        lag.write(to: &writer)
        writer.write(tenureBeganAt)
        writer.write(gapMilliseconds) { $0.write(signed: $1) }
        writer.write(newestNow)
    }

    init(reading reader: inout SerialReader) throws(SerialError) {
        recentIDs = try RecentIDs(reading: &reader)
        newestAt = try reader.optionalDecidedTime()
        lag = try FeedLag(reading: &reader)
        tenureBeganAt = try reader.decidedTime()
        gapMilliseconds = try reader.optional { (reader) throws(SerialError) in try reader.signed() }
        newestNow = try reader.optionalDecidedTime()
        guard gapMilliseconds.map({ 0..<1 << 50 ~= $0 }) ?? true else { throw .malformed("gap") }
    }
}
