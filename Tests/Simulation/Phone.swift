import FanfareFanOut
import FanfareLineup
import FanfareModel

/// One activity as the world sees it: what was sent to it, and what that was allowed to be.
struct Phone {
    let id: ActivityID
    let node: Int
    /// What the person chose last, and what the shard has been told of so far (`nil` before, and after an unfollow).
    var audience: AudienceKey
    private(set) var served: AudienceKey?
    /// What it showed when it left: its card, if there is one, does so until its end.
    private(set) var left: AudienceKey?
    /// Of the topic that it follows, where that is not a lineup.
    private(set) var turn = 0
    /// The app's current token, the one the shard knows, and every one it ever had.
    private(set) var token: [UInt8]
    private(set) var servedToken: [UInt8]
    private var tokens: [[UInt8]]
    /// Its first one: of a card that pushes make appear, and of those that renew it, what its starts go to.
    var firstToken: [UInt8] { tokens[0] }
    /// What starts of its card, and of the next one, are to go to by now, as the shard knows it.
    var startToken: [UInt8]
    /// `nil`: the app has started the activity itself.
    var card: Card?
    /// When it appeared, as the shard knows it; monotonic nanoseconds.
    var beganAt: Int64 = 0
    var isExpired = false
    /// Its name means the next card of the same person, which may still be to come.
    var isReplaced = false
    /// It ended before the system's eight hours were over: nobody wants the next card.
    var isEndedEarly = false
    var hasLeft = false
    var isDead = false
    var deathReports = 0
    /// The shard has let it go, and is to say so once.
    private(set) var isRemoved = false
    /// Its token was answered as dead while too many were.
    var isHeld = false
    /// The shard knows it: it was followed, or is to be started.
    var isIntroduced = false
    /// Another card has its name since it was told to leave.
    private(set) var isNameless = false
    /// Of cards that had this one's name before.
    var hasUsedName = false
    /// It is gone, and the core has heard all that the shard had to say of it: its name is free.
    var isForgotten = false
    /// It got a new token while the guard was shut.
    var wasHeld = false
    /// The service has refused the newest state for good: there is nothing to be done before a newer one has come.
    private(set) var refusedSerial: UInt64?
    /// The newest one that was.
    private(set) var lastRefused: UInt64 = 0
    private(set) var refusedState: [UInt8]?
    /// What was sent last is owed to it once more, whatever the answer.
    private var isOwedAgain = false
    /// Newest publication of what it shows when the last push that was accepted left.
    private(set) var acceptedSerial: UInt64 = 0

    /// What is wrong with its token.
    var sickness: Sickness?
    /// When a push to it last met a trouble of its own, monotonic nanoseconds.
    private(set) var troubledAt: Int64 = 0
    /// It is not its first one.
    private(set) var hasNewToken = false
    /// Its own trouble keeps it waiting until then, at least.
    var waitsUntil: Int64 = 0

    /// Pushes on their way; more than one is a violation.
    var flying = 0
    var lastStamp: Int64 = 0
    var lastState: [UInt8] = []
    /// Whether the last push may be repeated as it was: it was not accepted, or nobody knows.
    var lastMayRepeat = true
    /// State of the last accepted push, and what the card shows.
    var accepted: [UInt8]?
    var shown: [UInt8]?
    var hasEnded = false
    private(set) var isEnding = false
    /// The service has certainly taken an end, or its token is dead: nothing may follow.
    var isGone = false
    /// Newest publication of what it shows, when the last push was sent.
    var lastSerial: UInt64 = 0
    /// When that was, monotonic nanoseconds, when the last answer came, and what it showed if it was a lineup.
    private(set) var lastSentAt: Int64 = 0
    private(set) var answeredAt: Int64 = 0
    private(set) var lastLineup: LineupContentState<Match>?
    /// Whether it had an alert, and none has come since while it was on its way.
    private(set) var lastAlertStandsAlone = false
    /// When it came to what it shows, and pushes since for which nothing but the rotation can have asked.
    private(set) var joinedAt: Int64 = 0
    /// How often it has come to something.
    private(set) var joins = 0
    /// Since when what is published waits for it: not while its card has no token.
    private(set) var memberSince: Int64 = 0
    var rotationPushes: Int64 = 0
    var alertsTried: Set<AlertText> = []
    /// Alerts published since this phone showed their topic that have not had their chance yet, and those whose chance is on its
    /// way; the oldest first.
    private(set) var missed: [Missed] = []
    private var missedInFlight: [Missed] = []
    struct Missed {
        let topic: TopicID
        let alert: Alert
        /// Monotonic nanoseconds.
        let staleAt: Int64
        var isRevoked = false
        /// There was a moment at which it might not be given, and no push was needed without it.
        var mayBeSettled = false
    }
    /// An alert was published while nothing kept this phone from having it at once: the sweep will come with it.
    private(set) var awaitsAlert = false
    private var isThrottled = false
    /// What the person wants, as far as the shard has been told, and what is left of the activity's limits.
    private(set) var subscriber: Subscriber
    let limits: ActivityLimits
    private(set) var budget = PhoneBucket()
    private(set) var alertBucket = PhoneBucket()
    /// Before the last push.
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

    /// The same person's next card.
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

    /// The shard has the new token. What held the old one holds it no more.
    mutating func serves(_ token: [UInt8]) {
        if token != servedToken {
            (isHeld, waitsUntil, troubledAt, sickness) = (false, 0, 0, nil)
            hasNewToken = true
        }
        servedToken = token
    }

    func hasUsed(_ token: [UInt8]) -> Bool { tokens.contains(token) }

    /// The shard has been told whose member this phone is.
    ///
    /// - Parameters:
    ///   - turn: of the topic that it follows.
    ///   - isWaited: there is nothing to be seen of it yet.
    mutating func joined(_ audience: AudienceKey?, turn: Int, isWaited: Bool, at now: Int64) {
        // With its end on the way, an activity does not move; but it leaves.
        guard !isGone, !isEnding || audience == nil, served != audience else { return }
        if audience == nil { left = served }
        served = audience
        self.turn = turn
        joinedAt = now
        joins += 1
        memberSince = now
        isOwedWhatItRefused()
        rotationPushes = 0
        lastLineup = nil
        // The person changed something, and gets one push for it even where the content happens to be the same.
        lastMayRepeat = true
        // What it missed of a topic that it shows as before is still to come; but a card without a token takes nothing along.
        var shown = hasToken ? Set(audience?.topics ?? []) : []
        if isWaited {
            // Nothing has been missed of what is yet to come. A lineup may be there already, with members of whom nobody can say.
            if case .topic = audience { shown = [] }
            forgiveMissed()
        }
        missed.removeAll { !shown.contains($0.topic) }
        missedInFlight.removeAll { !shown.contains($0.topic) }
        awaitsAlert = awaitsAlert && !missed.allSatisfy(\.isRevoked)
    }

    private mutating func forgiveMissed() {
        noteSettled()
        for index in missedInFlight.indices { missedInFlight[index].mayBeSettled = true }
        awaitsAlert = false
    }

    /// Devices drop what was stamped half a minute before their own time, and what is eight hours ahead of it.
    static func takes(_ stamp: Int64, at truth: Moment) -> Bool {
        stamp > truth.wallSeconds - 30 && stamp <= truth.wallSeconds + 8 * 3600
    }

    /// It gets the newest state once more, whatever becomes of what is on its way.
    mutating func isOwedWhatItRefused() {
        refusedSerial = nil
        isOwedAgain = flying > 0
    }

    mutating func isMember(since now: Int64) { memberSince = now }

    mutating func prefers(_ subscriber: Subscriber) { self.subscriber = subscriber }

    func stillMissed(at now: Int64) -> [Missed] { missed.filter { !$0.isRevoked && now < $0.staleAt } }

    /// What it missed may have been settled silently.
    mutating func noteSettled() { for index in missed.indices { missed[index].mayBeSettled = true } }

    mutating func noteAlert(of publication: Publication, at now: Int64) {
        guard !isNameless, let alert = publication.alert else { return }
        missed.append(
            Missed(
                topic: publication.topicID, alert: alert, staleAt: now + alert.freshFor.milliseconds * 1_000_000))
        excuseOldest(alert.class)
        if flying > 0 { lastAlertStandsAlone = false }
        if flying == 0, !isThrottled, hasToken { awaitsAlert = true }
    }

    /// Eight of each class are kept for whoever missed them, the newest, whatever their topics are. More may be: what an activity
    /// brings along is kept beside what its audience keeps.
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

    /// Somebody follows under its name with another card: it is still to be ended, under its own token.
    mutating func partsFromName() {
        isNameless = true
        missed.removeAll()
        missedInFlight.removeAll()
        awaitsAlert = false
    }

    /// It takes the place of a card that shows the same: what that has told of, or is telling of, is not told again.
    ///
    /// - Parameter isThere: that card certainly is, and nobody has let go of it.
    mutating func takesOver(from old: Phone, isThere: Bool) {
        guard served == old.served, turn == old.turn else { return }
        alertsTried.formUnion(old.alertsTried)
        for index in missed.indices {
            let lacked = old.missed.first { $0.alert.text == missed[index].alert.text }
            if lacked.map(\.mayBeSettled) ?? true { missed[index].mayBeSettled = true }
        }
        // What that has not been told of, this one is.
        guard !old.isGone, !old.isEnding else { return }
        var lacked = old.missed.filter { lacked in !missed.contains { $0.alert.text == lacked.alert.text } }
        if !isThere { for index in lacked.indices { lacked[index].mayBeSettled = true } }
        missed = lacked + missed
        // It gets a push for that, even where it shows what it showed.
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
        lastSentAt = moment.monotonicNanoseconds
        if case .lineup = served { lastLineup = LineupContentState<Match>(payload) }
        missedInFlight = missed
        missed.removeAll()
        budgetBefore = budget
        if payload.priority == .immediate, payload.event == .update { budget.take(budgetSize, at: payload.stamp) }
        alertBucketBefore = alertBucket
        if payload.alert != nil, payload.event != .start {
            alertBucket.take(limits.alerts, at: payload.stamp, atLeast: 0)
        }
        // What it drops for its stamp it does not compare with.
        if Phone.takes(payload.stamp, at: moment) { lastStamp = payload.stamp }
        lastState = payload.state
        lastAlertStandsAlone = payload.alert != nil && payload.event == .update
        lastMayRepeat = false
        alertsTried.formUnion(told)
    }

    mutating func answered(_ flight: World.Flight, isHeld: Bool, at now: Int64) {
        answeredAt = now
        self.isHeld = isHeld
        flying -= 1
        isEnding = false
        if flight.outcome == .accepted || flight.arrives, flight.isTaken { shown = flight.payload.state }
        if flight.outcome != .accepted, flight.token == servedToken { troubledAt = now }
        if flight.outcome == .throttled || flight.outcome == .serviceError, flight.token == servedToken {
            waitsUntil = now + 1_000_000_000
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
            // A dead answer for a token that has been replaced says nothing about the new one.
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
        case .refused where flight.payload.event == .end && (served == nil || isNameless):
            // It stays on the phone until the system ends it.
            isGone = true
        case .refused:
            if !isOwedAgain { refusedSerial = lastSerial }
            lastRefused = max(lastRefused, lastSerial)
            refusedState = flight.payload.state
            // Not before there is something newer; but that may look the same.
            lastMayRepeat = true
            notCharged(for: flight)
        }
    }

    /// Of what was certainly not processed the phone knows nothing.
    private mutating func notCharged(for flight: World.Flight) {
        alertBucket = alertBucketBefore
        guard flight.isTaken else {
            budget = budgetBefore
            return
        }
        if flight.payload.priority == .immediate, flight.payload.event == .update { budget.giveBack(budgetSize) }
    }

    /// The service certainly did not process it, so its alert may be tried again.
    private mutating func untry(_ flight: World.Flight) {
        missed = missedInFlight + missed
        missedInFlight.removeAll()
        alertsTried.subtract(flight.told)
        notCharged(for: flight)
    }
}
