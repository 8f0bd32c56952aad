/// Decides how much the pool may ask its source for: all there is room for, one push to try, or nothing for a while.
///
/// When APNs is in trouble, or we are misconfigured, the remedy is to stop asking: ten million activities need no retry
/// of their own. The gate closes, and opens a crack for one push after a wait. When that one is answered it opens as a connection
/// begins, doubling with each round trip, for a service that has just come back should not meet everybody at once.
///
/// It judges the service by many activities: one that has failed before is no evidence (see `Suspects`), neither for closing
/// nor for a longer wait. Where all that there are have failed before, `isDrought` says that nobody is served. Times are monotonic
/// nanoseconds.
struct PullGate {
    /// How many more answers were 500s, 503s and resets than were answered well before the gate closes. So it closes soon once half
    /// of the answers are such, and with fewer it stays open: each costs its own push, which goes again, and throughput falls
    /// in proportion.
    static let troubleMax = 16
    /// Good answers that count against trouble to come: as many as a connection has on its way. For the answers of one read
    /// come in any order, and refusals, which have a body, behind all the others.
    static let creditMax = 1000
    /// Configuration faults in a row. APNs cuts off senders that go on erring, and every push would fail alike. Until
    /// something has worked each connection may have one more on its way.
    static let faultsInARowMax = 10
    /// So many failures, and over so long, without a push answered well between them: nobody is served.
    static let droughtFailures = 10
    static let droughtTime = Duration.seconds(5)
    /// A person has to act; a try per minute notices when one has.
    static let faultWait = Duration.seconds(60)
    /// Pushes in flight at which the gate is wholly open: ten round trips from one.
    static let openingMax = 1024
    /// And however few are asked for, after this.
    static let openingTime = Duration.seconds(10)

    private enum State: Equatable {
        case open
        /// So many pushes may be in flight.
        case opening(Int)
        /// One push may be in flight; its answer decides.
        case trying
        case closed(until: Int64)
    }

    private var state = State.open
    /// When `opening` ends; 0 until time has passed in that state.
    private var openBy: Int64 = 0
    private var troubleBalance = 0
    private var faultsInARow = 0
    /// By `Connection.serial`, those that the faults in a row came on.
    private var faultyConnections: Set<UInt64> = []
    /// Of its connections so many have to say so, two at least where there are as many: one may have led to a server that is wrong.
    private static let faultyShare = 8
    /// Of whatever kind and activity, since a push was answered well, and when the first of them came.
    private var failuresInARow = 0
    private var failingSince: Int64 = 0
    /// With the key in use: until then every activity's fault is evidence, for all there may be is one.
    private(set) var hasWorked = false
    /// A try costs the service one request, and everybody waits for the first one after an outage.
    private var backoff = Backoff(first: .milliseconds(50), most: .seconds(5))
    /// After tries with activities that had failed before. Others may be due meanwhile: they wait no longer than this.
    private var suspectBackoff = Backoff(first: .milliseconds(50), most: .seconds(1))

    /// When closed: from when one push may be tried.
    var closedUntil: Int64? { if case .closed(let until) = state { until } else { nil } }
    var isOpen: Bool { state == .open }
    var isTrying: Bool { state == .trying }
    /// Until when it opens wholly, whatever happens. Then there may be more room than before.
    var opensWhollyAt: Int64? { if case .opening = state, openBy > 0 { openBy } else { nil } }

    /// Time goes by, also while nothing is due and nobody asks for room.
    mutating func pass(to now: Int64) {
        guard case .opening = state else { return }
        if openBy == 0 { openBy = now + Self.openingTime.nanoseconds }
        if now >= openBy { state = .open }
    }

    /// How many more pushes may go out now.
    mutating func room(inFlight: Int, at now: Int64) -> Int {
        pass(to: now)
        switch state {
        case .open: return .max
        case .opening(let limit): return max(0, limit - inFlight)
        case .closed(let until):
            guard now >= until else { return 0 }
            state = .trying
            fallthrough
        case .trying: return inFlight == 0 ? 1 : 0
        }
    }

    /// A push was accepted, or its token judged: the service works, and knows who we are.
    mutating func answered() {
        if faultsInARow > 0 { forgetFaults() }
        failuresInARow = 0
        hasWorked = true
        troubleBalance = max(-Self.creditMax, troubleBalance - 1)
        guard state != .open else { return }
        switch state {
        case .trying:
            state = .opening(2)
            openBy = 0
            troubleBalance = 0
            backoff.reset()
            suspectBackoff.reset()
        case .opening(let limit): state = limit < Self.openingMax ? .opening(limit + 1) : .open
        // A push that was sent before the gate closed says nothing about now.
        case .open, .closed: break
        }
    }

    /// APNs answered 500 or 503, or reset a request.
    /// - Parameter isEvidence: its activity had not failed before.
    /// - Returns: how long the gate has closed for, when this is what closed it.
    mutating func trouble(isEvidence: Bool, at now: Int64, using random: inout some RandomNumberGenerator) -> Duration?
    {
        if case .closed = state { return nil }
        noteFailure(at: now)
        guard isEvidence else { return tryAnother(at: now, using: &random) }
        // Credit is for what comes at the same time as good answers.
        if isDrought(at: now) { troubleBalance = max(0, troubleBalance) }
        troubleBalance += 1
        guard state == .trying || troubleBalance >= Self.troubleMax else { return nil }
        return close(for: backoff.next(using: &random), at: now)
    }

    /// APNs answered that we are misconfigured.
    /// - Parameters:
    ///   - isEvidence: its activity had not failed before, or nobody is served.
    ///   - connection: names it for the life of the pool.
    ///   - connections: that are open.
    /// - Returns: whether this one closed the gate.
    mutating func fault(
        isEvidence: Bool, on connection: UInt64, of connections: Int, at now: Int64,
        using random: inout some RandomNumberGenerator
    ) -> Bool {
        guard closedUntil == nil else { return false }
        noteFailure(at: now)
        guard isEvidence || !hasWorked else {
            _ = tryAnother(at: now, using: &random)
            return false
        }
        faultsInARow += 1
        faultyConnections.insert(connection)
        // Where the others say nothing for long, it is believed all the same.
        let isBelieved = isEverybodys(of: connections) || isDrought(at: now)
        guard state == .trying || faultsInARow >= Self.faultsInARowMax && isBelieved else { return false }
        shut(at: now)
        return true
    }

    /// The faults in a row are not those of a connection or two among many.
    func isEverybodys(of connections: Int) -> Bool {
        let needed = max(2, min(Self.faultsInARowMax, connections / Self.faultyShare))
        return faultyConnections.count >= min(connections, needed)
    }

    private mutating func forgetFaults() {
        faultsInARow = 0
        faultyConnections.removeAll()
    }

    /// Nothing but failures for a while. With a small audience, or where its activities wait by themselves, there are no others that
    /// could be evidence.
    func isDrought(at now: Int64) -> Bool {
        failuresInARow >= Self.droughtFailures && now - failingSince >= Self.droughtTime.nanoseconds
    }

    private mutating func noteFailure(at now: Int64) {
        if failuresInARow == 0 { failingSince = now }
        failuresInARow += 1
    }

    /// Closes until a person may have acted.
    mutating func shut(at now: Int64) { _ = close(for: Self.faultWait, at: now) }

    /// Nothing is known of this key yet.
    mutating func changeKey() {
        hasWorked = false
        forgetFaults()
    }

    /// The try has shown nothing.
    private mutating func tryAnother(at now: Int64, using random: inout some RandomNumberGenerator) -> Duration? {
        state == .trying ? close(for: suspectBackoff.next(using: &random), at: now) : nil
    }

    /// What closed it may have been mended: one push may be tried at once.
    mutating func tryNow() {
        if closedUntil != nil { state = .trying }
    }

    private mutating func close(for wait: Duration, at now: Int64) -> Duration {
        state = .closed(until: now + wait.nanoseconds)
        return wait
    }
}

extension Duration {
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
