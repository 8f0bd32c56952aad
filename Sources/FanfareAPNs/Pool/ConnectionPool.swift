package import FanfareFanOut
package import FanfareLoop
package import FanfareModel

/// Sends one shard's deliveries to APNs over a few HTTP/2 connections.
///
/// The pool pulls work from its source when a connection has room, never because work is waiting. It returns each delivery
/// as exactly one completion, and all completions of a read together. It waits out every failure: connections return with
/// growing waits, and `PullGate` stops the pulls while APNs is in trouble or we are misconfigured. The pool sends nothing
/// twice: the source decides what follows an unknown outcome.
///
/// The pool connects parts that know nothing of each other, and calls its connections, which call it back.
///
/// Confined to its loop's thread. The source must outlive the pool, or the pool must be closed before the source goes.
package final class ConnectionPool: Transport {
    let loop: Loop
    let configuration: PoolConfiguration
    private let clock: () -> Moment
    private let reports: OperatorReports
    let exchange: DeliveryExchange
    let tokens: TokenUse
    let connections: ConnectionSet<Connection>
    let sizing: PoolSizing
    // Unchecked for the reason given in `Connection`.
    @safe @exclusivity(unchecked) var service = ServiceRecord()
    var knownEndpoint: KnownEndpoint
    var random = SystemRandomNumberGenerator()
    private var isTurning = false
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
        reports = OperatorReports(onReport)
        exchange = DeliveryExchange(with: source, endpoint: configuration.endpoint, bundleID: bundleID)
        tokens = TokenUse(of: credentials, proof)
        knownEndpoint = KnownEndpoint(try TLSContext.client(caFile: configuration.endpoint.caFile))
        let share = configuration.quota.join()
        sizing = PoolSizing(configuration.sizeLimits(share), share)
        connections = ConnectionSet(
            count: sizing.count, least: sizing.least, choosesSize: configuration.connections == nil,
            pools: share.pools)
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
        sizing.leave()
        timer?.close()
        timer = nil
    }

    package static func systemClock() -> Moment {
        Moment(wallMilliseconds: Clock.wallMilliseconds(), monotonicNanoseconds: Clock.monotonicNanoseconds())
    }

    func now() -> Moment { clock() }

    /// `true` if the configuration does not fix the number of connections.
    var choosesSize: Bool { configuration.connections == nil }

    var isClosing: Bool { closing.hasBegun }

    /// Number of open connections that take requests.
    package var connectionsOpen: Int { connections.openCount }

    /// Current trouble; `nil` while pushes are accepted, and before the first failure.
    package var trouble: PoolTrouble? { service.health.trouble }

    // MARK: Transport

    package var statistics: TransportStatistics {
        var statistics = exchange.statistics
        statistics.connectionsOpened = connections.opened
        statistics.connectionsLost = connections.lost
        statistics.connectFailures = connections.failed
        return statistics
    }

    package var figures: TransportFigures {
        var figures = sizing.figures
        figures.connections = connectionsOpen
        figures.connectionsWanted = connections.count
        figures.connectionsOpened = Int(connections.opened)
        figures.inFlight = exchange.inFlight
        if exchange.inFlight == 0, trouble == nil { figures.limit = .nothing }
        return figures
    }

    /// `true` once as many connections are open as wanted; the minimum number is enough after ten seconds, so that nothing
    /// waits for the last of many.
    package var isReady: Bool {
        if connectionsOpen == connections.count, isLargeEnough { return true }
        return choosesSize && connectionsOpen >= sizing.least && sizing.isReady(at: clock().monotonic)
    }

    /// `true` if there are as many connections as wanted, as far as is known now.
    private var isLargeEnough: Bool {
        if !choosesSize || exchange.demand == 0 { return true }
        let now = clock().monotonic
        return sizing.plannedPath != nil && !sizing.isGrowing(at: now, mayGrow: mayGrow(at: now))
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
        for connection in connections.members { connection.drain(at: moment) }
        turn(at: moment)
    }

    // MARK: The turn

    /// Returns completions, pulls work while there is room for it, and sends it. Every event that may have changed anything
    /// ends in a turn.
    func turn(at moment: Moment) {
        // `source` may call back during the turn.
        guard !isTurning else { return }
        isTurning = true
        service.pass(to: moment.monotonic)
        if sizing.beginsReview(at: moment.monotonic), !isClosing { review(at: moment) }
        if !isClosing { openSlots(at: moment) }
        exchange.beginTurn()
        repeat {
            exchange.complete(at: moment)
        } while exchange.mayPull(in: loop.turns, at: clock().monotonic) && pull(at: moment)
        exchange.complete(at: moment)
        // A pool with nothing in flight is not full; its connections wait for a sign of life.
        let isIdle = exchange.inFlight == 0 && mayGrow(at: moment.monotonic)
        if !exchange.mayHaveWork || isClosing || isIdle { sizing.noteRoom() }
        if connections.hasChanged { sizing.noteTaken(connections.taken()) }
        isTurning = false
        finishClosing()
        deadlinesChanged()
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
        if service.gate.closedUntil != nil { noticeRepair(at: moment) }
        let gateRoom = service.room(at: now)
        guard gateRoom > 0 else { return false }
        guard connections.hasCandidates, let issue = issue(at: moment) else { return false }
        let agreed = issue.agreeing(with: moment)
        // The source is asked before a connection is chosen: the cost of that choice grows with the number of connections with room.
        guard exchange.mayHavePushes(at: agreed), let (connection, room) = nextConnection(at: now) else { return false }
        let limit = min(room, gateRoom)
        let authorization = exchange.authorization(issue)

        // Pulls are in the source's order while the service is known to work, and by lot otherwise.
        if service.gate.isOpen, service.gate.hasWorked {
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
            if form.body.count < exchange.bodySize.last.bytes / 2 { connections.allMayHaveRoom() }
            let sent = connection.send(run, of: exchange.batch, as: form, at: now)
            exchange.noteSent(sent, each: .bytes(form.body.count), at: now)
            service.noteSent(sent)
            // The connection has just run out of stream IDs, and the peer has not seen the remaining pushes.
            exchange.finishUnsent(run.dropFirst(sent), .notProcessed)
            allSent = allSent && sent == run.count
        }
        // The output is flushed while it is still in the processor's cache, because a turn may bring more requests than the cache holds.
        connection.flush()
        if next > 0 { connections.noteUse(of: connection) }
        return allSent
    }

    /// Returns the connection to use next, by the rules of `NextConnection`; of equals, the least recently used one. Each
    /// error counts if one push is to be tried or nothing is in flight; otherwise only a doubt about the connection counts.
    private func nextConnection(at now: MonotonicTime) -> (Connection, room: Int)? {
        let isSpreading = exchange.isSpreading(at: now) && connections.contains { $0.awaitsSignOfLife }
        if isSpreading { sizing.noteRoom() }
        // Another connection is as fast while nothing is in flight, and an activity that fails again has then failed on two.
        let countsEachError = service.gate.isTrying || exchange.inFlight == 0
        return connections.next { connection, index, next in
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

    /// Time in which a sign of life may come later than its distance says, in nanoseconds.
    private static let signsMargin: Int64 = 10_000_000

    /// Spreads the next pushes over all connections, of which one has just been asked for a sign of life: the first to answer would take them all,
    /// and need many more round trips than all of them together. After a long silence TCP sends no more than `widthAtFirst` in the first round trip
    /// anyway, so nothing is lost if the others answer a round trip later; no pull waits longer for a connection that does not answer.
    func awaitSigns(at now: MonotonicTime) {
        let roundTrip = sizing.plannedPath?.roundTrip ?? 0
        exchange.spread(until: now.advanced(byNanoseconds: 2 * roundTrip + ConnectionPool.signsMargin))
    }

    /// Returns the request of a delivery, and of those after it that carry the same payload; `nil` if that cannot be encoded.
    private func form(
        of delivery: Delivery, _ authorization: RequestFields.Authorization, at now: MonotonicTime
    ) -> RequestFields.Form? {
        do throws(PayloadFault) {
            return try exchange.form(of: delivery, authorization)
        } catch {
            report("\(error)", at: now)
            return nil
        }
    }

    private func issue(at moment: Moment) -> ProviderToken.Issue? {
        do {
            let issue = try tokens.current(at: moment)
            if let complaint = issue.complaint { report(complaint, at: moment.monotonic) }
            switch tokens.advance(to: issue) {
            case .same: break
            case .another: if replaceThoseThatSawExpiredJWT(at: moment) { return nil }
            case .anotherKey:
                changeKey(to: issue.keySerial, at: moment)
                return nil
            }
            tokens.noteSent(issue)
            return issue
        } catch {
            couldNotSign(error, at: moment.monotonic)
            return nil
        }
    }

    /// Tries a push at once if the key or the machine's clock has been repaired.
    private func noticeRepair(at moment: Moment) {
        guard let repair = tokens.repair(at: moment) else { return }
        if case .key(let serial) = repair { changeKey(to: serial, at: moment) }
        service.tryNow(at: moment.monotonic)
    }

    private func finishClosing() {
        guard isClosing, connections.isEmpty, let closed = closing.end() else { return }
        closeHandles()
        closed()
    }

    // MARK: Reports to operators

    func report(_ text: String, at now: MonotonicTime) { reports.report(text, at: now) }

    // MARK: Time

    /// Interval between two checks for a repair while nothing is sent.
    private static let noticeInterval = Duration.seconds(1)

    private func timerFired() {
        let moment = clock()
        guard timer?.fires(at: moment.monotonic, inTurn: loop.turns) == true else { return }
        for connection in connections.everyMember {
            if moment.monotonic >= closing.deadline {
                connection.abort(at: moment)
            } else {
                connection.tick(at: moment)
            }
        }
        turn(at: moment)
    }

    /// Sets the timer to the first deadline at the end of the loop's turn. A turn reads many connections, and each of them has a deadline.
    func deadlinesChanged() { timer?.callAtTurnEnd() }

    /// Sets the timer to the first deadline.
    private func armTimer(at now: MonotonicTime) {
        guard timer != nil else { return }
        var due = exchange.pullTurn.isCutShort ? now + PullTurn.pause : closing.deadline
        due = min(due, connections.nextDeadline(dials: !isClosing))
        // A gate that may open needs no timer: the next event that finds work opens it.
        if let closedUntil = service.gate.closedUntil, closedUntil > now, !isClosing {
            due = min(due, closedUntil, now + ConnectionPool.noticeInterval)
        }
        if let review = sizing.nextReview(at: now, mayGrow: mayGrow(at: now)), !isClosing { due = min(due, review) }
        if let opens = service.gate.opensWhollyAt, opens > now, !isClosing { due = min(due, opens) }
        if exchange.mayHaveWork, exchange.isSpreading(at: now) { due = min(due, exchange.pullTurn.spreadsUntil) }
        timer?.arm(at: due, now: now)
    }
}
