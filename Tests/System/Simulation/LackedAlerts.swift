import FanfareFanOut
import FanfareModel

/// The alerts that a phone has been given and lacks: the oracle of alerts, each of which is told once.
struct LackedAlerts {
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
        for list in [\LackedAlerts.inFlight, \LackedAlerts.missed] {
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
    mutating func excuse(what old: LackedAlerts) {
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
    mutating func inherit(from old: LackedAlerts, surely isThere: Bool) -> Bool {
        var lacked = old.missed.filter { lacked in !missed.contains { $0.alert.text == lacked.alert.text } }
        if !isThere { for index in lacked.indices { lacked[index].mayBeSettled = true } }
        missed = lacked + missed
        return !lacked.isEmpty
    }
}
