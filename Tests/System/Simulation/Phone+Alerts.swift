import FanfareFanOut
import FanfareModel

extension Phone {
    /// The alerts that it has been given and lacks: the oracle of alerts, each of which is told once.
    struct Alerts {
        struct Missed {
            let topic: TopicID
            let alert: Alert
            /// Time at which the alert is stale.
            let staleAt: MonotonicTime
            var isRevoked = false
            /// Is `true` if the alert could not be given at some moment and no push was due without it.
            var mayBeSettled = false
        }

        private(set) var tried: Set<AlertText> = []
        /// Alerts published since this phone shows their topic that have not been tried, oldest first; `inFlight` has those of the push in
        /// flight.
        private(set) var missed: [Missed] = []
        private var inFlight: [Missed] = []
        /// Is `true` if an alert was published while nothing kept the phone from getting it at once: the sweep will bring it.
        private(set) var isAwaited = false

        func stillMissed(at now: MonotonicTime) -> [Missed] { missed.filter { !$0.isRevoked && now < $0.staleAt } }

        /// - Parameter leavesAtOnce: `true` if nothing keeps the phone from getting it.
        mutating func note(_ alert: Alert, of topic: TopicID, at now: MonotonicTime, leavesAtOnce: Bool) {
            missed.append(Missed(topic: topic, alert: alert, staleAt: now + alert.freshFor))
            excuseOldest(alert.class)
            if leavesAtOnce { isAwaited = true }
        }

        /// Marks the oldest alerts as optional. The newest eight of each class are kept, whatever their topics; more may be, because alerts
        /// that an activity carries along are kept in addition to its audience's.
        private mutating func excuseOldest(_ class: AlertClass) {
            var excess = (inFlight + missed).count { $0.alert.class == `class` } - 8
            for list in [\Alerts.inFlight, \Alerts.missed] {
                for index in self[keyPath: list].indices where self[keyPath: list][index].alert.class == `class` {
                    guard excess > 0 else { return }
                    self[keyPath: list][index].mayBeSettled = true
                    excess -= 1
                }
            }
        }

        mutating func revoke(_ cause: String) {
            for index in missed.indices where missed[index].alert.cause == cause { missed[index].isRevoked = true }
            for index in inFlight.indices where inFlight[index].alert.cause == cause {
                inFlight[index].isRevoked = true
            }
            if missed.allSatisfy(\.isRevoked) { isAwaited = false }
        }

        /// Marks missed alerts as possibly settled without a push.
        mutating func noteSettled() { for index in missed.indices { missed[index].mayBeSettled = true } }

        /// Goes to another audience.
        ///
        /// - Parameters:
        ///   - shown: topics whose alerts go along.
        ///   - isWaited: `true` if nothing is published for the audience yet.
        mutating func join(_ shown: Set<TopicID>, isWaited: Bool) {
            if isWaited {
                noteSettled()
                for index in inFlight.indices { inFlight[index].mayBeSettled = true }
                isAwaited = false
            }
            missed.removeAll { !shown.contains($0.topic) }
            inFlight.removeAll { !shown.contains($0.topic) }
            isAwaited = isAwaited && !missed.allSatisfy(\.isRevoked)
        }

        mutating func removeMissed() {
            missed.removeAll()
            inFlight.removeAll()
            isAwaited = false
        }

        mutating func sent(_ told: [AlertText]) {
            inFlight = missed
            missed.removeAll()
            isAwaited = false
            tried.formUnion(told)
        }

        /// Makes the alerts of a push available again, because the service certainly did not process it.
        mutating func untry(_ told: [AlertText]) {
            missed = inFlight + missed
            inFlight.removeAll()
            tried.subtract(told)
        }

        /// Excuses what another card was given, or is being given.
        mutating func excuse(what old: Alerts) {
            tried.formUnion(old.tried)
            for index in missed.indices {
                let lacked = old.missed.first { $0.alert.text == missed[index].alert.text }
                if lacked.map(\.mayBeSettled) ?? true { missed[index].mayBeSettled = true }
            }
        }

        /// Takes over the alerts that another card lacks.
        ///
        /// - Parameter isThere: `true` if these are certainly due.
        /// - Returns: `true` if there are any.
        mutating func inherit(from old: Alerts, surely isThere: Bool) -> Bool {
            var lacked = old.missed.filter { lacked in !missed.contains { $0.alert.text == lacked.alert.text } }
            if !isThere { for index in lacked.indices { lacked[index].mayBeSettled = true } }
            missed = lacked + missed
            return !lacked.isEmpty
        }
    }

    /// The person's preferences as far as the shard knows them, and what is left of the activity's limits: the oracle of attention.
    struct Budget {
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
}
