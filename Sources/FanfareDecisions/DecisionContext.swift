import FanfareModel

/// One event or timer while it is decided: at what time, and what the record will say of it.
struct DecisionContext {
    /// Log time.
    let now: FeedTime
    /// No event that came by now can have happened later; log time, or the wall clock where that is ahead.
    let latest: FeedTime
    /// Where the topic is kept that it is about.
    let place: UInt32
    var verdict: Verdict
    /// Of the last publication, of whichever topic.
    private(set) var serial: UInt64

    init(now: FeedTime, latest: FeedTime, place: Int, serial: UInt64, reason: String) {
        self.now = now
        self.latest = latest
        self.place = UInt32(place)
        self.serial = serial
        verdict = Verdict(reason: reason)
    }

    /// Of a publication that is about to be made.
    mutating func nextSerial() -> UInt64 {
        serial += 1
        return serial
    }
}
