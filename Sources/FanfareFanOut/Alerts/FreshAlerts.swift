import FanfareModel

/// The alerts of an audience that may still leave, for a claim of its members.
struct FreshAlerts {
    let topic: TopicID
    /// Log time at which the newest of them was granted.
    private(set) var through: FeedTime
    /// Log time, and time of the monotonic clock, from which on none of them is fresh.
    private(set) var expires: FeedTime
    private(set) var freshUntil: MonotonicTime
    /// Fresh alerts of a lineup's other topics.
    private(set) var additional: [FreshAlerts] = []

    /// - Returns: `nil` if none of the alerts may leave.
    init?(_ alerts: some Sequence<IssuedAlert>, at moment: Moment) {
        var whole: FreshAlerts?
        for alert in alerts where !alert.isRevoked && moment.monotonic < alert.freshUntil {
            let one = FreshAlerts(alert)
            if whole == nil { whole = one } else { whole?.add(one) }
        }
        guard let whole else { return nil }
        self = whole
    }

    private init(_ alert: IssuedAlert) {
        (topic, through, freshUntil) = (alert.topic, alert.alert.grantedAt, alert.freshUntil)
        expires = through + min(alert.alert.freshFor, AlertClaim.ageMax)
    }

    private mutating func add(_ other: FreshAlerts) {
        if other.topic == topic { return merge(other) }
        if let place = additional.firstIndex(where: { $0.topic == other.topic }) {
            additional[place].merge(other)
        } else {
            additional.append(other)
        }
    }

    /// Adds alerts of the same topic.
    mutating func merge(_ other: FreshAlerts) {
        through = max(through, other.through)
        expires = max(expires, other.expires)
        freshUntil = max(freshUntil, other.freshUntil)
    }
}
