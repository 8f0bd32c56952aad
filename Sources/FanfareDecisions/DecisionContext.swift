import FanfareModel

/// Time and verdict of the event or timer that is being decided.
struct DecisionContext {
    /// Log time.
    let now: FeedTime
    /// Upper bound for the time of an event that arrives now: log time, or the wall clock if that is ahead.
    let latest: FeedTime
    /// Place of the topic in the core's table.
    let place: UInt32
    var verdict: Verdict
    /// Serial number of the last publication of any topic.
    private(set) var serial: UInt64

    init(now: FeedTime, latest: FeedTime, place: Int, serial: UInt64, reason: String) {
        self.now = now
        self.latest = latest
        self.place = UInt32(place)
        self.serial = serial
        verdict = Verdict(reason: reason)
    }

    /// Returns the serial number of the next publication.
    mutating func nextSerial() -> UInt64 {
        serial += 1
        return serial
    }
}
