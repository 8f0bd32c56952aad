import FanfareModel

/// Decides how much the pool may pull from its source: all there is room for, one push as a try, or nothing for a while.
///
/// The remedy for trouble at APNs, or for a misconfiguration, is to stop pulling: ten million activities then need no retry of
/// their own. The gate closes, and lets one push through after a wait. Once that push is answered, the gate widens as a new
/// connection does, doubling with each round trip, so that a service that has just recovered does not get all pushes at once.
///
/// The gate judges the service by many activities: the failure of one that has failed before is no evidence (see
/// `Suspects`), neither for closing nor for a longer wait. `isDrought` detects that no push is answered well even if all
/// activities have failed before. Once the gate has closed, only pushes of its tries and later ones count: those that were sent before say
/// nothing about now, and a connection that leaves them unanswered must not keep the others' waiting.
struct PullGate {
    /// Excess of 5xx answers, resets and timeouts over good answers that closes the gate. The gate thus closes soon once
    /// half of the answers are such errors, and stays open below that: each error costs its own push, which is sent again,
    /// and throughput falls in proportion.
    static let troubleMax = 16
    /// Maximum number of good answers that offset later trouble: as many as a connection has in flight, because the answers
    /// of one read come in any order, and refusals, which have a body, after all others.
    static let creditMax = 1000
    /// Configuration faults in a row that close the gate. APNs cuts off senders that keep making errors, and every push
    /// would fail alike. Each connection may have one more in flight until a push has worked.
    static let faultsInARowMax = 10
    /// Failures without a good answer between them that are a drought if they last `droughtTime`.
    static let droughtFailures = 10
    static let droughtTime = Duration.seconds(5)
    /// Wait after a configuration fault. A person has to act; a try per minute notices the repair.
    static let faultWait = Duration.seconds(60)
    /// Pushes in flight at which the gate is fully open: ten round trips from one.
    static let openingMax = 1024
    /// Time after which the gate is fully open, however few pushes were due.
    static let openingTime = Duration.seconds(10)

    private enum State: Equatable {
        case open
        /// At most this many pushes may be in flight.
        case opening(Int)
        /// One push may be in flight; its answer decides.
        case trying
        case closed(until: MonotonicTime)
    }

    private var state = State.open
    /// Time of the latest try, or of its first push if that is earlier; pushes that were sent earlier do not count.
    private var triedAt = MonotonicTime.always
    /// Pushes in flight that were sent since the latest try.
    private(set) var inFlight = 0
    /// End of `opening`; `nil` until time has passed in that state.
    private var openBy: MonotonicTime?
    private var troubleBalance = 0
    private var faultsInARow = 0
    /// Serials of the connections (`Connection.serial`) on which the faults in a row occurred.
    private var faultyConnections: Set<UInt64> = []
    /// Divisor of the connections: this share of them must report faults, but at least two if there are two, because one may
    /// have reached a wrong server.
    private static let faultyShare = 8
    /// Failures of any kind and activity since the last good answer.
    private var failuresInARow = 0
    /// Time of the first failure since the last good answer.
    private var failingSince = MonotonicTime.always
    /// `true` once a push was answered well with the key in use. Every activity's fault is evidence before, because there
    /// may be only one activity.
    private(set) var hasWorked = false
    /// Wait before a try; short, because a try costs the service one request and all pushes wait for the first one after an outage.
    private var backoff = Backoff(first: .milliseconds(50), most: .seconds(5))
    /// Wait after tries with activities that had failed before: other activities that are due meanwhile wait no longer than this.
    private var suspectBackoff = Backoff(first: .milliseconds(50), most: .seconds(1))

    /// Time from which one push may be tried, while the gate is closed; otherwise `nil`.
    var closedUntil: MonotonicTime? { if case .closed(let until) = state { until } else { nil } }
    var isOpen: Bool { state == .open }
    var isTrying: Bool { state == .trying }
    /// Time at which an opening gate is fully open in any case, which may make room; otherwise `nil`.
    var opensWhollyAt: MonotonicTime? { if case .opening = state { openBy } else { nil } }

    /// Advances the gate's time, also while nothing is due and no room is requested.
    mutating func pass(to now: MonotonicTime) {
        guard case .opening = state else { return }
        let end = openBy ?? now + Self.openingTime
        openBy = end
        if now >= end { state = .open }
    }

    /// Returns the number of further pushes that may be sent now.
    mutating func room(at now: MonotonicTime) -> Int {
        pass(to: now)
        switch state {
        case .open: return .max
        case .opening(let limit): return max(0, limit - inFlight)
        case .closed(let until):
            guard now >= until else { return 0 }
            beginTry(at: now)
            fallthrough
        case .trying: return inFlight == 0 ? 1 : 0
        }
    }

    private mutating func beginTry(at now: MonotonicTime) {
        state = .trying
        triedAt = now
        inFlight = 0
    }

    /// Records pushes that leave. A turn may go on with an earlier reading of the clock than the one by which a try began within it; the pushes are the
    /// try's, whose time is then theirs.
    mutating func sent(_ count: Int, at now: MonotonicTime) {
        if count > 0 { triedAt = min(triedAt, now) }
        inFlight += count
    }

    /// Records that a push is in flight no more, whatever came of it. A push that was sent at the clock's reading of the latest try, and before it, looks
    /// like one of the try's, and may be more than there are.
    mutating func ended(sentAt: MonotonicTime) {
        if sentAt >= triedAt { inFlight = max(0, inFlight - 1) }
    }

    /// Records a push that was accepted, or whose token was judged: the service works and accepts our JWT.
    mutating func answered(sentAt: MonotonicTime) {
        if faultsInARow > 0 { forgetFaults() }
        failuresInARow = 0
        hasWorked = true
        troubleBalance = max(-Self.creditMax, troubleBalance - 1)
        guard state != .open, sentAt >= triedAt else { return }
        switch state {
        case .trying:
            state = .opening(2)
            openBy = nil
            troubleBalance = 0
            backoff.reset()
            suspectBackoff.reset()
        case .opening(let limit): state = limit < Self.openingMax ? .opening(limit + 1) : .open
        case .open, .closed: break
        }
    }

    /// Records a failure that may be the service's: a 5xx, a 410 without a reason, a reset or a timeout.
    ///
    /// - Parameters:
    ///   - isEvidence: `true` if the activity had not failed before.
    ///   - sentAt: time at which the push was sent.
    /// - Returns: the wait, if this failure has closed the gate.
    mutating func trouble(
        isEvidence: Bool, sentAt: MonotonicTime, at now: MonotonicTime, using random: inout some RandomNumberGenerator
    ) -> Duration? {
        guard closedUntil == nil, sentAt >= triedAt else { return nil }
        noteFailure(at: now)
        guard isEvidence else { return tryAnother(at: now, using: &random) }
        // Good answers offset only the trouble that comes together with them.
        if isDrought(at: now) { troubleBalance = max(0, troubleBalance) }
        troubleBalance += 1
        guard state == .trying || troubleBalance >= Self.troubleMax else { return nil }
        return close(for: backoff.next(using: &random), at: now)
    }

    /// Records an answer that says that we are misconfigured.
    /// - Parameters:
    ///   - isEvidence: `true` if the activity had not failed before, or no push is answered well.
    ///   - connection: serial of the connection.
    ///   - connections: number of open connections.
    ///   - sentAt: time at which the push was sent.
    /// - Returns: `true` if this fault closed the gate.
    mutating func fault(
        isEvidence: Bool, on connection: UInt64, of connections: Int, sentAt: MonotonicTime, at now: MonotonicTime,
        using random: inout some RandomNumberGenerator
    ) -> Bool {
        guard closedUntil == nil, sentAt >= triedAt else { return false }
        noteFailure(at: now)
        guard isEvidence || !hasWorked else {
            _ = tryAnother(at: now, using: &random)
            return false
        }
        faultsInARow += 1
        faultyConnections.insert(connection)
        // A fault is also believed after a drought, even if the other connections are silent.
        let isBelieved = isEverybodys(of: connections) || isDrought(at: now)
        guard state == .trying || faultsInARow >= Self.faultsInARowMax && isBelieved else { return false }
        shut(at: now)
        return true
    }

    /// Returns `true` if the faults in a row come from more than one or two connections among many.
    func isEverybodys(of connections: Int) -> Bool {
        let needed = max(2, min(Self.faultsInARowMax, connections / Self.faultyShare))
        return faultyConnections.count >= min(connections, needed)
    }

    private mutating func forgetFaults() {
        faultsInARow = 0
        faultyConnections.removeAll()
    }

    /// Returns `true` after nothing but failures for a while. A small audience, or activities that wait individually, leave
    /// no other activities that could be evidence.
    func isDrought(at now: MonotonicTime) -> Bool {
        failuresInARow >= Self.droughtFailures && now - failingSince >= Self.droughtTime
    }

    private mutating func noteFailure(at now: MonotonicTime) {
        if failuresInARow == 0 { failingSince = now }
        failuresInARow += 1
    }

    /// Closes the gate until a person may have acted.
    mutating func shut(at now: MonotonicTime) { _ = close(for: Self.faultWait, at: now) }

    /// Forgets the evidence about the former key.
    mutating func changeKey() {
        hasWorked = false
        forgetFaults()
    }

    /// Closes the gate again for a moment, if a try has proved nothing.
    private mutating func tryAnother(
        at now: MonotonicTime, using random: inout some RandomNumberGenerator
    ) -> Duration? {
        state == .trying ? close(for: suspectBackoff.next(using: &random), at: now) : nil
    }

    /// Permits one push at once, because the cause of the closing may have been repaired.
    mutating func tryNow(at now: MonotonicTime) {
        if closedUntil != nil { beginTry(at: now) }
    }

    private mutating func close(for wait: Duration, at now: MonotonicTime) -> Duration {
        state = .closed(until: now + wait)
        return wait
    }

    /// Describes pushes that ended without having been sent, faults that no connection had, or a gate that trouble should have closed; `nil` if there
    /// is none. For tests.
    func violation() -> String? {
        guard inFlight >= 0 else { return "\(inFlight) pushes in flight" }
        let connections = faultyConnections.count
        guard connections <= faultsInARow, (connections == 0) == (faultsInARow == 0) else {
            return "\(faultsInARow) faults on \(connections) connections"
        }
        guard troubleBalance >= -Self.creditMax else { return "a credit of \(-troubleBalance)" }
        switch state {
        case .open: break
        case .opening(let limit):
            guard (2...Self.openingMax).contains(limit) else { return "opening by \(limit) pushes" }
        case .trying, .closed: return nil
        }
        return troubleBalance < Self.troubleMax ? nil : "a trouble of \(troubleBalance) has not closed the gate"
    }
}
