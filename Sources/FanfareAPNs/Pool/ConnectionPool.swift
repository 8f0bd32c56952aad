package import FanfareFanOut
import FanfareHTTP2
package import FanfareLoop
package import FanfareModel

/// Sends one shard's deliveries to APNs over a few HTTP/2 connections.
///
/// The pool pulls work from its source when a connection has room, never because work is waiting. It returns each delivery
/// as exactly one completion, and all completions of a read together. It waits out every failure: connections return with
/// growing waits, and `PullGate` stops the pulls while APNs is in trouble or we are misconfigured. The pool sends nothing
/// twice: the source decides what follows an uncertain outcome.
///
/// The pool connects parts that know nothing of each other in layers, and calls its connections, which call it back.
///
/// Confined to its loop's thread. The source must outlive the pool, or the pool must be closed before the source goes.
package final class ConnectionPool: Transport {
    let loop: Loop
    let configuration: PoolConfiguration
    private let clock: () -> Moment
    private let exchange: DeliveryExchange
    private let tokens: TokenUse
    private let reporter: ServiceReporter
    private let upkeep: ConnectionUpkeep
    private let answers: PoolAnswers
    private var random = SystemRandomNumberGenerator()
    private var isTurning = false
    // Unchecked for the reason given in `Connection`.
    @safe @exclusivity(unchecked) private var closing = PoolClosing()
    /// `nil` while the pool is being made, and once it has closed.
    private var timer: DeadlineTimer?

    /// Creates a pool, which opens its connections at once.
    ///
    /// - Parameters:
    ///   - clock: reads the clocks; pools that share the credentials must share it, or they take each other's JWTs for wrong.
    ///   - proof: receives the time that APNs accepts; `clock` may follow it.
    ///   - onReport: called on the loop's thread with one line for operators. A line never contains a token or a key; equal
    ///     lines are reported once a minute.
    /// - Throws: `LoopError` for an unusable CA file, `CredentialsFault` for a bundle id that cannot be sent.
    package init(
        loop: Loop, source: any DeliverySource, credentials: ProviderToken, configuration: PoolConfiguration,
        clock: @escaping () -> Moment = ConnectionPool.systemClock, proof: WallProof = WallProof(),
        onReport: @escaping (String) -> Void
    ) throws {
        let bundleID = configuration.bundleID
        guard !bundleID.isEmpty, bundleID.utf8.allSatisfy({ (0x21..<0x7f).contains($0) }) else {
            throw CredentialsFault("the bundle id \"\(bundleID)\" should be the app's, such as com.example.app")
        }
        self.loop = loop
        self.configuration = configuration
        self.clock = clock
        reporter = ServiceReporter(onReport)
        exchange = DeliveryExchange(with: source, endpoint: configuration.endpoint, bundleID: bundleID)
        tokens = TokenUse(of: credentials, proof)
        upkeep = try ConnectionUpkeep(configuration, reporter)
        answers = PoolAnswers(configuration, exchange, tokens, upkeep, reporter)
        timer = DeadlineTimer(loop: loop) { [unowned self] in
            armTimer(at: now().monotonic)
        } onFire: { [unowned self] in
            timerFired()
        }
        let moment = clock()
        tokens.begin(at: moment)
        turn(at: moment)
    }

    deinit { closeHandles() }

    private func closeHandles() {
        // A pool that has closed has no part of the quota to leave.
        guard timer != nil else { return }
        upkeep.sizing.leave()
        timer?.close()
        timer = nil
    }

    package static func systemClock() -> Moment {
        Moment(wallMilliseconds: Clock.wallMilliseconds(), monotonicNanoseconds: Clock.monotonicNanoseconds())
    }

    var isClosing: Bool { closing.hasBegun }

    /// Number of open connections that take requests.
    package var connectionsOpen: Int { upkeep.connections.openCount }

    /// Current trouble; `nil` while pushes are accepted, and before the first failure.
    package var trouble: PoolTrouble? { reporter.service.health.trouble }

    // MARK: Transport

    package var statistics: TransportStatistics {
        var statistics = exchange.statistics
        statistics.connectionsOpened = upkeep.connections.opened
        statistics.connectionsLost = upkeep.connections.lost
        statistics.connectFailures = upkeep.connections.failed
        return statistics
    }

    package var figures: TransportFigures {
        var figures = upkeep.sizing.figures
        figures.connections = connectionsOpen
        figures.connectionsWanted = upkeep.connections.count
        figures.connectionsOpened = Int(upkeep.connections.opened)
        figures.inFlight = exchange.inFlight
        if exchange.inFlight == 0, trouble == nil { figures.limit = .nothing }
        return figures
    }

    /// `true` once as many connections are open as wanted; the minimum number is enough after ten seconds, so that nothing
    /// waits for the last of many.
    package var isReady: Bool {
        if connectionsOpen == upkeep.connections.count, isLargeEnough { return true }
        return configuration.choosesSize && connectionsOpen >= upkeep.sizing.least
            && upkeep.sizing.isReady(at: clock().monotonic)
    }

    /// `true` if there are as many connections as wanted, as far as is known now.
    private var isLargeEnough: Bool {
        if !configuration.choosesSize || exchange.demand == 0 { return true }
        let now = clock().monotonic
        return upkeep.sizing.plannedPath != nil
            && !upkeep.sizing.isGrowing(at: now, mayGrow: upkeep.mayGrow(at: now))
    }

    package func workAvailable() {
        exchange.noteWork()
        turn(at: clock())
    }

    /// Closes the pool once the outstanding answers have arrived, or after `drainTimeout`; may call `closed` before it returns.
    package func close(_ closed: @escaping () -> Void) {
        guard !isClosing else { return }
        let moment = clock()
        closing.begin(by: moment.monotonic + configuration.drainTimeout, closed)
        for connection in upkeep.connections.members { connection.drain(at: moment) }
        turn(at: moment)
    }

    // MARK: The turn

    /// Returns completions, pulls work while there is room for it, and sends it. Every event that may have changed anything
    /// ends in a turn.
    func turn(at moment: Moment) {
        // `source` may call back during the turn.
        guard !isTurning else { return }
        isTurning = true
        reporter.service.pass(to: moment.monotonic)
        if upkeep.sizing.beginsReview(at: moment.monotonic), !isClosing { review(at: moment) }
        if !isClosing { upkeep.openSlots(for: self, at: moment) }
        exchange.beginTurn()
        repeat {
            exchange.complete(at: moment)
        } while exchange.mayPull(in: loop.turns, at: clock().monotonic) && pull(at: moment)
        exchange.complete(at: moment)
        // A pool with nothing in flight is not full; its connections wait for a sign of life.
        let isIdle = exchange.inFlight == 0 && upkeep.mayGrow(at: moment.monotonic)
        if !exchange.mayHaveWork || isClosing || isIdle { upkeep.sizing.noteRoom() }
        upkeep.noteTaken()
        isTurning = false
        finishClosing()
        deadlinesChanged()
    }

    private func review(at moment: Moment) {
        let statistics = exchange.statistics
        let work = PoolSizing.Work(
            idle: .nanoseconds(loop.idleNanoseconds), answered: statistics.answered,
            taken: statistics.accepted + statistics.dead)
        upkeep.review(work, demand: exchange.demand, bodySize: exchange.bodySize.usual, at: moment)
    }

    /// Pulls deliveries for one connection and sends them.
    ///
    /// - Returns: `true` if another pull may bring more.
    private func pull(at moment: Moment) -> Bool {
        guard exchange.mayHaveWork, !isClosing else { return false }
        let now = moment.monotonic
        guard tokens.maySend(at: now) else {
            exchange.cutShort()
            return false
        }
        if reporter.service.gate.closedUntil != nil { noticeRepair(at: moment) }
        let gateRoom = reporter.service.room(at: now)
        guard gateRoom > 0 else { return false }
        guard upkeep.connections.hasCandidates, let issue = issue(at: moment) else { return false }
        let agreed = issue.agreeing(with: moment)
        // The source is asked before a connection is chosen: the cost of that choice grows with the number of connections with room.
        guard exchange.mayHavePushes(at: agreed), let (connection, room) = nextConnection(at: now) else { return false }
        let limit = min(room, gateRoom)
        let authorization = exchange.authorization(issue)

        // Pulls are in the source's order while the service is known to work, and by lot otherwise.
        if reporter.service.gate.isOpen, reporter.service.gate.hasWorked {
            exchange.pull(limit: limit, at: agreed)
        } else {
            exchange.pullByLot(limit: limit, at: agreed) { random.next() }
        }
        var allSent = true
        var next = 0
        while next < exchange.batch.deliveries.count {
            let run = exchange.batch.run(from: next)
            next = run.upperBound
            guard let form = form(of: exchange.batch.deliveries[run.lowerBound], authorization, at: now) else {
                exchange.refuse(run)
                continue
            }
            // Windows that were too small for a body may hold a far smaller one.
            if form.body.count < exchange.bodySize.last.bytes / 2 { upkeep.connections.allMayHaveRoom() }
            let sent = connection.send(run, of: exchange.batch, as: form, at: now)
            exchange.noteSent(sent, each: .bytes(form.body.count), at: now)
            reporter.service.noteSent(sent, at: now)
            // The connection has just run out of stream IDs, and the peer has not seen the remaining pushes.
            exchange.finishUnsent(run.dropFirst(sent), .notProcessed)
            allSent = allSent && sent == run.count
        }
        // The output is flushed while it is still in the processor's cache, because a turn may bring more requests than the cache holds.
        connection.flush()
        if next > 0 { upkeep.connections.noteUse(of: connection) }
        return allSent
    }

    /// Returns the connection to use next, by the rules of `NextConnection`; of equals, the least recently used one. Each
    /// error counts if one push is to be tried or nothing is in flight; otherwise only a doubt about the connection counts.
    private func nextConnection(at now: MonotonicTime) -> (Connection, room: Int)? {
        let isSpreading = exchange.isSpreading(at: now) && upkeep.connections.contains { $0.awaitsSignOfLife }
        if isSpreading { upkeep.sizing.noteRoom() }
        // Another connection is as fast while nothing is in flight, and an activity that fails again has then failed on two.
        let countsEachError = reporter.service.gate.isTrying || exchange.inFlight == 0
        return upkeep.connections.next { connection, index, next in
            var room = connection.room(bodySize: exchange.bodySize.last, at: now)
            guard room > 0 else { return false }
            if isSpreading {
                room = min(room, exchange.widthAtFirst - connection.inFlight)
                // The connection takes more as soon as the others can.
                guard room > 0 else { return true }
            }
            let unconfirmed = connection.record.unconfirmedInARow
            let errors =
                countsEachError
                ? connection.record.errorsInARow + unconfirmed : connection.record.isInDoubt || unconfirmed > 1 ? 1 : 0
            next.offer(
                index, room: room, inFlight: connection.inFlight, errors: errors,
                isSlow: connection.times.slowness.isSlow,
                lag: connection.times.slowness.lag)
            return true
        }
    }

    /// Returns the request of a delivery, and of those after it that carry the same payload; `nil` if that cannot be encoded.
    private func form(
        of delivery: Delivery, _ authorization: RequestFields.Authorization, at now: MonotonicTime
    ) -> RequestFields.Form? {
        do throws(PayloadFault) {
            return try exchange.form(of: delivery, authorization)
        } catch {
            reporter.report("\(error)", at: now)
            return nil
        }
    }

    private func issue(at moment: Moment) -> ProviderToken.Issue? {
        do {
            let issue = try tokens.current(at: moment)
            if let complaint = issue.complaint { reporter.report(complaint, at: moment.monotonic) }
            switch tokens.advance(to: issue) {
            case .same: break
            case .another: if upkeep.replaceThoseThatSawExpiredJWT(at: moment) { return nil }
            case .anotherKey:
                answers.changeKey(to: issue.keySerial, at: moment)
                return nil
            }
            tokens.noteSent(issue)
            return issue
        } catch {
            reporter.couldNotSign(error, at: moment.monotonic)
            return nil
        }
    }

    /// Tries a push at once if the key or the machine's clock has been repaired.
    private func noticeRepair(at moment: Moment) {
        guard let repair = tokens.repair(at: moment) else { return }
        if case .key(let serial) = repair { answers.changeKey(to: serial, at: moment) }
        reporter.service.tryNow(at: moment.monotonic)
    }

    private func finishClosing() {
        guard isClosing, upkeep.connections.isEmpty, let closed = closing.end() else { return }
        closeHandles()
        closed()
    }

    // MARK: Time

    /// Interval between two checks for a repair while nothing is sent.
    private static let noticeInterval = Duration.seconds(1)

    private func timerFired() {
        let moment = clock()
        guard timer?.fires(at: moment.monotonic, inTurn: loop.turns) == true else { return }
        for connection in upkeep.connections.everyMember {
            if moment.monotonic >= closing.deadline {
                connection.abort(at: moment)
            } else {
                connection.tick(at: moment)
            }
        }
        // A connection that ends has read the clock again, so the reading from above may be behind it.
        turn(at: clock())
    }

    /// Sets the timer to the first deadline at the end of the loop's turn. A turn reads many connections, and each of them has a deadline.
    func deadlinesChanged() { timer?.callAtTurnEnd() }

    /// Sets the timer to the first deadline.
    private func armTimer(at now: MonotonicTime) {
        guard timer != nil else { return }
        var due = exchange.pullTurn.isCutShort ? now + PullTurn.pause : closing.deadline
        due = min(due, upkeep.connections.nextDeadline(dials: !isClosing))
        // A gate that may open needs no timer: the next event that finds work opens it.
        if let closedUntil = reporter.service.gate.closedUntil, closedUntil > now, !isClosing {
            due = min(due, closedUntil, now + ConnectionPool.noticeInterval)
        }
        let sizing = upkeep.sizing
        if let review = sizing.nextReview(at: now, mayGrow: upkeep.mayGrow(at: now)), !isClosing {
            due = min(due, review)
        }
        if let opens = reporter.service.gate.opensWhollyAt, opens > now, !isClosing { due = min(due, opens) }
        if exchange.mayHaveWork, exchange.isSpreading(at: now) { due = min(due, exchange.pullTurn.spreadsUntil) }
        timer?.arm(at: due, now: now)
    }

    // MARK: For tests

    /// Describes a contradiction in a part, or requests in flight that are on no connection; `nil` if there is none. Holds between turns.
    package func violation() -> String? {
        let onConnections = upkeep.connections.everyMember.reduce(0) { $0 + $1.inFlight }
        guard onConnections == exchange.inFlight else {
            return "\(exchange.inFlight) requests in flight, and \(onConnections) on connections"
        }
        let tries = reporter.service.gate.inFlight
        guard tries <= exchange.inFlight else { return "the gate waits for \(tries) of \(exchange.inFlight) requests" }
        if let violation = closing.violation() ?? timer?.violation() { return violation }
        return exchange.violation() ?? tokens.violation() ?? reporter.service.violation() ?? upkeep.violation()
    }
}

/// The calls of the pool's connections and of their dialers.
extension ConnectionPool: ConnectionOwner {
    var knownEndpoint: KnownEndpoint { upkeep.knownEndpoint }
    var hadRoom: Bool { upkeep.sizing.hadRoom }
    var measuresDistance: Bool { upkeep.sizing.measuresDistance }
    var widthAtFirst: Int { exchange.widthAtFirst }

    func now() -> Moment { clock() }

    func report(_ text: String, at now: MonotonicTime) { reporter.report(text, at: now) }

    // MARK: Room

    func opened(_ connection: Connection) { upkeep.opened(connection) }

    func mayHaveRoom(_ connection: Connection) { upkeep.connections.mayHaveRoom(connection) }

    func drained(_ connection: Connection) {
        upkeep.connections.mayHaveRoom(connection)
        guard exchange.mayHaveWork, !isClosing else { return }
        turn(at: now())
    }

    /// Time in which a sign of life may come later than its distance says.
    private static let signsMargin = Duration.milliseconds(10)

    /// Spreads the next pushes over all connections, of which one has just been asked for a sign of life: the first to answer would take them all,
    /// and need many more round trips than all of them together. After a long silence TCP sends no more than `widthAtFirst` in the first round trip
    /// anyway, so nothing is lost if the others answer a round trip later; no pull waits longer for a connection that does not answer.
    func awaitSigns(at now: MonotonicTime) {
        let roundTrip = upkeep.sizing.plannedPath?.roundTrip ?? .zero
        exchange.spread(until: now + (roundTrip * 2 + ConnectionPool.signsMargin))
    }

    // MARK: Ends of requests

    func accepted(_ request: SentRequest, at moment: Moment) { answers.accepted(request, at: moment) }

    func refused(_ request: SentRequest, status: Int, body: ErrorBody, on connection: Connection, at moment: Moment) {
        answers.refused(request, status: status, body: body, on: connection, at: moment)
    }

    func reset(_ request: SentRequest, _ code: ErrorCode, on connection: Connection, at moment: Moment) {
        answers.reset(request, code, on: connection, at: moment)
    }

    func notProcessed(_ request: SentRequest) { answers.notProcessed(request) }

    func lost(_ request: SentRequest) { answers.lost(request) }

    // MARK: Connections

    func regainedTrust(_ connection: Connection) { upkeep.connections.trust(connection) }

    func succeeded(_ connection: Connection) { upkeep.succeeded(connection) }

    func answeredPing(stays: Bool) { upkeep.answeredPing(stays: stays) }

    func exhausted(_ connection: Connection, at moment: Moment) { upkeep.replace(connection, at: moment) }

    func receivedGoAway(_ connection: Connection, _ code: ErrorCode, reason: String?, at moment: Moment) {
        upkeep.receivedGoAway(connection, code, reason: reason, at: moment)
    }

    func allowsNothing(_ connection: Connection, at moment: Moment) { upkeep.allowsNothing(connection, at: moment) }

    func fellSilent(_ connection: Connection, at now: MonotonicTime) { upkeep.doubtAddress(of: connection, at: now) }

    func ended(_ connection: Connection, _ ending: ConnectionEnding, lingers: Bool, at moment: Moment) {
        upkeep.ended(connection, ending, lingers: lingers, isClosing: isClosing, at: moment)
    }
}
