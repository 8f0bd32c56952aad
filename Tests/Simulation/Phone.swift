import FanfareFanOut
import FanfareLineup
import FanfareModel

/// One activity as the world sees it: the pushes sent to it, and the bounds of what they may contain.
struct Phone {
    let id: ActivityID
    let node: Int
    /// Audience that the person chose last; `served` is the one that the shard knows (`nil` before the follow and after an unfollow).
    var audience: AudienceKey
    private(set) var served: AudienceKey?
    /// Audience served before it left. Its card, if there is one, shows that until its end.
    private(set) var left: AudienceKey?
    /// Turn of the topic that it follows; unused for a lineup.
    private(set) var turn = 0
    /// The app's current token; `servedToken` is the one that the shard knows, `tokens` has all it ever had.
    private(set) var token: [UInt8]
    private(set) var servedToken: [UInt8]
    private var tokens: [[UInt8]]
    /// First token that it had: the target of the starts of this card and of those that renew it.
    var firstToken: [UInt8] { tokens[0] }
    /// Target of later starts of its card and of the successor, as the shard knows it.
    var startToken: [UInt8]
    /// The card of an activity started by a push; `nil` if the app started the activity.
    var card: Card?
    /// Time at which the card appeared, as the shard knows it.
    var beganAt = MonotonicTime(nanoseconds: 0)
    var isExpired = false
    /// Is `true` if its name means the successor, whose card may still be pending.
    var isReplaced = false
    /// Is `true` if it ended before the system's eight hours were over: a successor is then unwanted.
    var isEndedEarly = false
    var hasLeft = false
    var isDead = false
    var deathReports = 0
    /// Is `true` if the shard has removed it and must report that once.
    private(set) var isRemoved = false
    /// Is `true` if its token was answered as dead while the guard was shut.
    var isHeld = false
    /// Is `true` if the shard knows the phone: it was followed, or is to be started.
    var isIntroduced = false
    /// Is `true` if another card has its name since its own card was unfollowed.
    private(set) var isDetached = false
    /// Is `true` if earlier cards had its name.
    var hasUsedName = false
    /// Is `true` if it is gone and the core has heard everything about it, so that its name is free.
    var isForgotten = false
    /// Is `true` if it got a new token while the guard was shut.
    var wasHeld = false
    /// Serial of the newest state, if the service has refused it for good: no push is due before a newer state.
    private(set) var refusedSerial: UInt64?
    /// Serial of the newest state that was ever refused.
    private(set) var lastRefused: UInt64 = 0
    private(set) var refusedState: [UInt8]?
    /// Is `true` if the state sent last is pending once more after any answer.
    private var isOwedAgain = false
    /// Newest publication of its audience when the last accepted push left.
    private(set) var acceptedSerial: UInt64 = 0

    /// Fault of its token.
    var sickness: Sickness?
    /// Time of the last trouble of a push to it.
    private(set) var troubledAt: MonotonicTime?
    /// Is `true` if the token is not its first one.
    private(set) var hasNewToken = false
    /// Time until which its own trouble delays it, at least.
    var waitsUntil = MonotonicTime.always

    /// Number of its pushes in flight; more than one is a violation.
    var flying = 0
    var lastStamp: Int64 = 0
    var lastState: [UInt8] = []
    /// Is `true` if the last push may be repeated unchanged: it was not accepted, or its outcome is unknown.
    var lastMayRepeat = true
    /// State of the last accepted push; `shown` is the state on the card.
    var accepted: [UInt8]?
    var shown: [UInt8]?
    var hasEnded = false
    private(set) var isEnding = false
    /// Audience that it was moved to while its end was in flight, and goes to if that does not arrive.
    private(set) var postponed: AudienceKey?
    /// Is `true` when the service has certainly taken an end, or the token is dead: nothing may follow.
    var isGone = false
    /// Newest publication of its audience when the last push was sent.
    var lastSerial: UInt64 = 0
    /// Time of the last push; `answeredAt` is the time of the last answer, `lastLineup` the lineup that the push showed.
    private(set) var lastSentAt = MonotonicTime.always
    private(set) var answeredAt = MonotonicTime.always
    private(set) var lastLineup: LineupContentState<Match>?
    /// Is `true` if the last push had an alert and no alert was published while it was in flight.
    private(set) var lastAlertStandsAlone = false
    /// Time at which it joined its audience; `rotationPushes` counts pushes since then that only the rotation can have caused.
    private(set) var joinedAt = MonotonicTime.always
    /// Number of times that it has joined an audience.
    private(set) var joins = 0
    /// Time since which publications wait for it; a card without a token is not a member.
    private(set) var memberSince = MonotonicTime.always
    var rotationPushes: Int64 = 0
    var alertsTried: Set<AlertText> = []
    /// Alerts published since this phone shows their topic that have not been tried, oldest first;
    /// `missedInFlight` has those of the push in flight.
    private(set) var missed: [Missed] = []
    private var missedInFlight: [Missed] = []
    struct Missed {
        let topic: TopicID
        let alert: Alert
        /// Time at which the alert is stale.
        let staleAt: MonotonicTime
        var isRevoked = false
        /// Is `true` if the alert could not be given at some moment and no push was due without it.
        var mayBeSettled = false
    }
    /// Is `true` if an alert was published while nothing kept the phone from getting it at once: the sweep will bring it.
    private(set) var awaitsAlert = false
    private var isThrottled = false
    /// Preferences as far as the shard knows them; `limits`, `budget` and `alertBucket` are the activity's limits and what is left of them.
    private(set) var subscriber: Subscriber
    let limits: ActivityLimits
    private(set) var budget = PhoneBucket()
    private(set) var alertBucket = PhoneBucket()
    /// Budget before the last push; `alertBucketBefore` likewise.
    private var budgetBefore = PhoneBucket()
    private var alertBucketBefore = PhoneBucket()

    var budgetSize: TokenBucket.Size { subscriber.frequentUpdates ? limits.immediateFrequent : limits.immediate }

    var isLive: Bool { !isExpired && !hasLeft && !isDead && !hasEnded && !isGone }

    init(
        id: ActivityID, node: Int, audience: AudienceKey, subscriber: Subscriber, limits: ActivityLimits,
        using random: inout SplitMix64
    ) {
        self.subscriber = subscriber
        self.limits = limits
        self.id = id
        self.node = node
        self.audience = audience
        token = Phone.makeToken(using: &random)
        servedToken = token
        startToken = token
        tokens = [token]
    }

    /// Makes the successor of a card.
    init(renewing old: Phone, id: ActivityID) {
        self.id = id
        node = old.node
        audience = old.audience
        subscriber = old.subscriber
        limits = old.limits
        token = old.startToken
        servedToken = token
        startToken = token
        tokens = [token]
        isIntroduced = true
        hasUsedName = old.hasUsedName
        wasHeld = old.wasHeld
    }

    private static func makeToken(using random: inout SplitMix64) -> [UInt8] {
        (0..<[54, 80].randomElement(using: &random)!).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    mutating func renewToken(using random: inout SplitMix64) {
        token = Phone.makeToken(using: &random)
        tokens.append(token)
    }

    /// Notes that the shard has the new token, which frees the phone from the trouble of the old one.
    mutating func serves(_ token: [UInt8]) {
        if token != servedToken {
            (isHeld, waitsUntil, troubledAt, sickness) = (false, .always, nil, nil)
            hasNewToken = true
        }
        servedToken = token
    }

    func hasUsed(_ token: [UInt8]) -> Bool { tokens.contains(token) }

    /// Notes that the shard knows the phone's new audience.
    ///
    /// - Parameters:
    ///   - turn: turn of the topic that it follows.
    ///   - isWaited: `true` if nothing is published for the audience yet.
    mutating func joined(_ audience: AudienceKey?, turn: Int, isWaited: Bool, at now: MonotonicTime) {
        // An activity whose end is in flight does not move yet; but it leaves.
        guard !isGone, !isEnding || audience == nil, served != audience else { return }
        postponed = nil
        if audience == nil { left = served }
        served = audience
        self.turn = turn
        joinedAt = now
        joins += 1
        memberSince = now
        isOwedWhatItRefused()
        rotationPushes = 0
        lastLineup = nil
        // The person changed something, so one push is allowed even if the content is the same.
        lastMayRepeat = true
        // Alerts missed of a topic that stays are still due; but a card without a token takes none along.
        var shown = hasToken ? Set(audience?.topics ?? []) : []
        if isWaited {
            // A joiner has missed nothing of a topic yet to come. A lineup may exist already, with members whose state is unknown.
            if case .topic = audience { shown = [] }
            forgiveMissed()
        }
        missed.removeAll { !shown.contains($0.topic) }
        missedInFlight.removeAll { !shown.contains($0.topic) }
        awaitsAlert = awaitsAlert && !missed.allSatisfy(\.isRevoked)
    }

    /// Notes where it goes if its end, which is in flight, does not arrive; `nil` for nowhere.
    mutating func postpones(_ audience: AudienceKey?) { postponed = audience }

    private mutating func forgiveMissed() {
        noteSettled()
        for index in missedInFlight.indices { missedInFlight[index].mayBeSettled = true }
        awaitsAlert = false
    }

    /// Is `true` if a device takes the stamp: devices drop stamps that are half a minute old or eight hours ahead.
    static func takes(_ stamp: Int64, at truth: Moment) -> Bool {
        stamp > truth.wallSeconds - 30 && stamp <= truth.wallSeconds + 8 * 3600
    }

    /// Makes the newest state due once more after any answer to the push in flight.
    mutating func isOwedWhatItRefused() {
        refusedSerial = nil
        isOwedAgain = flying > 0
    }

    mutating func isMember(since now: MonotonicTime) { memberSince = now }

    mutating func prefers(_ subscriber: Subscriber) { self.subscriber = subscriber }

    func stillMissed(at now: MonotonicTime) -> [Missed] { missed.filter { !$0.isRevoked && now < $0.staleAt } }

    /// Marks missed alerts as possibly settled without a push.
    mutating func noteSettled() { for index in missed.indices { missed[index].mayBeSettled = true } }

    mutating func noteAlert(of publication: Publication, at now: MonotonicTime) {
        guard !isDetached, let alert = publication.alert else { return }
        missed.append(Missed(topic: publication.topicID, alert: alert, staleAt: now + alert.freshFor))
        excuseOldest(alert.class)
        if flying > 0 { lastAlertStandsAlone = false }
        if flying == 0, !isThrottled, hasToken { awaitsAlert = true }
    }

    /// Marks the oldest alerts as optional. The newest eight of each class are kept, whatever their topics; more may be, because alerts
    /// that an activity carries along are kept in addition to its audience's.
    private mutating func excuseOldest(_ class: AlertClass) {
        var excess = (missedInFlight + missed).count { $0.alert.class == `class` } - 8
        for list in [\Phone.missedInFlight, \Phone.missed] {
            for index in self[keyPath: list].indices where self[keyPath: list][index].alert.class == `class` {
                guard excess > 0 else { return }
                self[keyPath: list][index].mayBeSettled = true
                excess -= 1
            }
        }
    }

    /// Notes that another card has its name: it is still to be ended under its own token.
    mutating func partsFromName() {
        isDetached = true
        postponed = nil
        missed.removeAll()
        missedInFlight.removeAll()
        awaitsAlert = false
    }

    /// Takes over from a card that shows the same: alerts that the old card was given, or is being given, are not repeated.
    ///
    /// - Parameter isThere: `true` if the old card certainly exists and was not let go of.
    mutating func takesOver(from old: Phone, isThere: Bool) {
        guard served == old.served, turn == old.turn else { return }
        alertsTried.formUnion(old.alertsTried)
        for index in missed.indices {
            let lacked = old.missed.first { $0.alert.text == missed[index].alert.text }
            if lacked.map(\.mayBeSettled) ?? true { missed[index].mayBeSettled = true }
        }
        // The successor gets the alerts that the old card has not been given.
        guard !old.isGone, !old.isEnding else { return }
        var lacked = old.missed.filter { lacked in !missed.contains { $0.alert.text == lacked.alert.text } }
        if !isThere { for index in lacked.indices { lacked[index].mayBeSettled = true } }
        missed = lacked + missed
        // The successor gets a push for those alerts even if it shows the same as before.
        if !lacked.isEmpty { lastMayRepeat = true }
    }

    mutating func forgetAlert(_ cause: String) {
        for index in missed.indices where missed[index].alert.cause == cause { missed[index].isRevoked = true }
        for index in missedInFlight.indices where missedInFlight[index].alert.cause == cause {
            missedInFlight[index].isRevoked = true
        }
        if missed.allSatisfy(\.isRevoked) { awaitsAlert = false }
    }

    mutating func sent(_ payload: Payload, telling told: [AlertText], newest serial: UInt64, at moment: Moment) {
        flying += 1
        awaitsAlert = false
        isThrottled = false
        isEnding = payload.event == .end
        refusedSerial = nil
        isOwedAgain = false
        lastSerial = serial
        lastSentAt = moment.monotonic
        if case .lineup = served { lastLineup = LineupContentState<Match>(payload) }
        missedInFlight = missed
        missed.removeAll()
        budgetBefore = budget
        if payload.priority == .immediate, payload.event == .update { budget.take(budgetSize, at: payload.stamp) }
        alertBucketBefore = alertBucket
        if payload.alert != nil, payload.event != .start {
            alertBucket.take(limits.alerts, at: payload.stamp, atLeast: 0)
        }
        // A push that the phone drops for its stamp does not count for the order of stamps.
        if Phone.takes(payload.stamp, at: moment) { lastStamp = payload.stamp }
        lastState = payload.state
        lastAlertStandsAlone = payload.alert != nil && payload.event == .update
        lastMayRepeat = false
        alertsTried.formUnion(told)
    }

    mutating func answered(_ flight: World.Flight, isHeld: Bool, at now: MonotonicTime) {
        answeredAt = now
        self.isHeld = isHeld
        flying -= 1
        isEnding = false
        if flight.outcome == .accepted || flight.arrives, flight.isTaken { shown = flight.payload.state }
        if flight.outcome != .accepted, flight.token == servedToken { troubledAt = now }
        if flight.outcome == .throttled || flight.outcome == .serviceError, flight.token == servedToken {
            waitsUntil = now + .seconds(1)
        }
        switch flight.outcome {
        case .accepted:
            accepted = flight.payload.state
            acceptedSerial = lastSerial
            if flight.payload.event == .end {
                hasEnded = true
                isGone = true
            }
        case .unknown:
            lastMayRepeat = true
            if flight.arrives, flight.payload.event == .end { hasEnded = true }
        case .deadToken:
            lastMayRepeat = true
            // A dead answer for a replaced token says nothing about the new one.
            if flight.token == servedToken, !isHeld {
                isGone = true
                isRemoved = true
            } else {
                isThrottled = isHeld
            }
            untry(flight)
        case .throttled, .serviceError, .notProcessed:
            lastMayRepeat = true
            isThrottled = flight.outcome != .notProcessed
            untry(flight)
        case .refused where flight.payload.event == .end && (served == nil || isDetached):
            // The card stays on the phone until the system removes it.
            isGone = true
        case .refused:
            if !isOwedAgain { refusedSerial = lastSerial }
            lastRefused = max(lastRefused, lastSerial)
            refusedState = flight.payload.state
            // No push is due before a newer state, which may look the same.
            lastMayRepeat = true
            notCharged(for: flight)
        }
    }

    /// Restores the budget and the alerts that the push took. A push that was certainly not processed is unknown to the phone.
    private mutating func notCharged(for flight: World.Flight) {
        alertBucket = alertBucketBefore
        guard flight.isTaken else {
            budget = budgetBefore
            return
        }
        if flight.payload.priority == .immediate, flight.payload.event == .update { budget.giveBack(budgetSize) }
    }

    /// Makes the alerts of a push available again, because the service certainly did not process it.
    private mutating func untry(_ flight: World.Flight) {
        missed = missedInFlight + missed
        missedInFlight.removeAll()
        alertsTried.subtract(flight.told)
        notCharged(for: flight)
    }
}
