import FanfareModel

/// Time and record of the event or timer that is being decided.
struct DecisionContext {
    /// Log time.
    let now: FeedTime
    /// Upper bound for the time of an event that arrives now: log time, or the wall clock if that is ahead.
    let latest: FeedTime
    /// Time at which the event arrived: the wall clock's, or log time without one. Log time may be hours from the truth for days after a start under
    /// a wrong clock, so it does not give the age of news at its arrival.
    let arrivedAt: FeedTime
    /// `DecisionCore.isLive`.
    private let isLive: Bool
    /// Place of the topic in the core's table.
    let place: UInt32
    var draft: RecordDraft
    /// The topic's newest publication before.
    var replaced: Publication?
    /// Serial number of the last publication of any topic.
    private(set) var serial: UInt64

    /// - Parameter wall: the wall clock, if it is known and plausible.
    init(now: FeedTime, wall: FeedTime? = nil, isLive: Bool, place: Int, serial: UInt64, reason: String) {
        self.now = now
        latest = max(now, wall ?? now)
        arrivedAt = wall ?? now
        self.isLive = isLive
        self.place = UInt32(place)
        self.serial = serial
        draft = RecordDraft(reason: reason)
    }

    /// Returns the time at which a card leaves the Lock Screen, for a publication. A date means log time if the feed is recorded, so the
    /// publication has the duration until then.
    func time(of dismissal: Dismissal, ofActivityLasting lasted: Duration) -> DismissalTime {
        let time = dismissal.time(ofActivityLasting: lasted)
        return isLive ? time : .after(time.duration(from: now))
    }

    /// Returns the serial number of the next publication.
    mutating func nextSerial() -> UInt64 {
        serial += 1
        return serial
    }
}
