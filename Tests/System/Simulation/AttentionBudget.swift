import FanfareFanOut
import FanfareModel

/// The person's preferences as far as the shard knows them, and what is left of the activity's limits: the oracle of attention.
struct AttentionBudget {
    var subscriber: Subscriber
    let limits: ActivityLimits
    private var immediate = PhoneBucket()
    private var alerts = PhoneBucket()
    /// The buckets before the last push.
    private var before = (immediate: PhoneBucket(), alerts: PhoneBucket())

    init(_ subscriber: Subscriber, _ limits: ActivityLimits) {
        (self.subscriber, self.limits) = (subscriber, limits)
    }

    private var immediateSize: TokenBucket.Size {
        subscriber.frequentUpdates ? limits.immediateFrequent : limits.immediate
    }

    /// Is `true` if an update or an end with this stamp may carry the alert.
    func mayAlert(_ alert: AlertClass, stamp: Int64, isEnd: Bool, at moment: Moment) -> Bool {
        guard subscriber.wants(alert, at: moment) else { return false }
        if alert == .ordinary, !alerts.has(limits.alerts, at: stamp) { return false }
        return isEnd
            || immediate.has(
                immediateSize, at: stamp, overdraft: alert == .essential ? limits.essentialOverdraft : 0)
    }

    /// Is `true` if an update with this stamp may have priority 10.
    func affordsImmediate(stamp: Int64) -> Bool { immediate.has(immediateSize, at: stamp) }

    mutating func charge(_ payload: Payload) {
        before = (immediate, alerts)
        if payload.priority == .immediate, payload.event == .update {
            immediate.take(immediateSize, at: payload.stamp)
        }
        if payload.alert != nil, payload.event != .start {
            alerts.take(limits.alerts, at: payload.stamp, atLeast: 0)
        }
    }

    /// Restores what the push took. A push that was certainly not processed is unknown to the phone.
    mutating func refund(_ flight: Flight) {
        alerts = before.alerts
        guard flight.isTaken else {
            immediate = before.immediate
            return
        }
        if flight.payload.priority == .immediate, flight.payload.event == .update {
            immediate.giveBack(immediateSize)
        }
    }
}
