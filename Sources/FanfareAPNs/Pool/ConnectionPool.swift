package import FanfareFanOut
import FanfareHTTP2
package import FanfareLoop
package import FanfareModel

/// Sends one shard's deliveries to APNs over a few HTTP/2 connections.
///
/// The pool pulls work from its source when a connection has room, never because work is waiting. It returns each delivery
/// as exactly one completion, and all completions of a read together. It waits out every failure: connections return with
/// growing waits, and `PullGate` stops the pulls while APNs is in trouble or we are misconfigured. The pool sends nothing
/// twice: the source decides what follows an unknown outcome.
///
/// Confined to its loop's thread. The source must outlive the pool, or the pool must be closed before the source goes.
package final class ConnectionPool: Transport {
    /// Maximum wait between connections that opened and were of little use.
    static let slotWaitMax = Duration.seconds(60)

    let loop: Loop
    let configuration: Configuration
    let context: TLSContext
    unowned let source: any DeliverySource
    let credentials: ProviderToken
    private let clock: () -> Moment
    let proof: WallProof
    let onReport: (String) -> Void
    @safe @exclusivity(unchecked) private var requestFields: RequestFields
    @safe @exclusivity(unchecked) var serials = TokenSerials()
    /// Time at which pushes changed to another wall time. Pushes need a later reading of the clocks: stamped by the former time,
    /// they would now be accepted by APNs and dropped by phones.
    var timeChangedAt = MonotonicTime.always
    var random = SystemRandomNumberGenerator()
    /// Addresses of the endpoint's host when a connection to one of them last opened; for times when no name server answers.
    var goodAddresses: [SocketAddress] = []
    var addressDoubts = AddressDoubts()
    var reports = ReportLog()
    var throttling = Throttling()
    @safe @exclusivity(unchecked) var health = PoolHealth()

    var slots: [ConnectionSlot]
    var size: PoolSize
    let share: ConnectionQuota.Share
    /// Load since the last review.
    var load = Load()
    var reviews = Reviews()
    /// Path to the peer without a queue.
    var plannedPath: PoolSize.Path?
    var replacements = Replacements()
    @safe @exclusivity(unchecked) var lifespan = Lifespan()
    /// Connections that take no new requests and wait for their last answers, or for the peer's close.
    var draining: [Connection] = []
    @safe @exclusivity(unchecked) var candidates = Candidates<Connection>()
    /// Serial of the newest connection; `Suspects` identifies connections by their serials.
    var connectionSerial: UInt64 = 0
    // Unchecked for the reason given in `Connection`.
    @safe @exclusivity(unchecked) var gate = PullGate()
    @safe @exclusivity(unchecked) var suspects = Suspects()
    /// Requests in flight on all connections.
    @safe @exclusivity(unchecked) var inFlight = 0
    /// `false` after a pull that brought less than its limit, until the source announces work or completions may have made more due.
    var sourceMayHaveWork = true
    @safe @exclusivity(unchecked) private var batch = DeliveryBatch()
    /// Output memory for the connection that writes; holds that connection's own memory meanwhile.
    @safe @exclusivity(unchecked) var requestMemory = OutputBuffer(capacity: 4096)
    @safe @exclusivity(unchecked) var completions: [Completion] = []
    private var completionsSpare: [Completion] = []
    private var isTurning = false
    @safe @exclusivity(unchecked) private var pullTurn = PullTurn()
    @safe @exclusivity(unchecked) private(set) var bodySize = BodySize()

    /// `nil` while the pool is being made, and once it has closed.
    private var timer: DeadlineTimer?
    private var onClosed: (() -> Void)?
    private var closesBy = MonotonicTime.never
    var isClosing: Bool { closesBy < .never }

    @safe @exclusivity(unchecked) package internal(set) var statistics = TransportStatistics()
    /// Current trouble; `nil` while pushes are accepted, and before the first failure.
    package var trouble: Trouble? { health.trouble }

    /// Creates a pool, which opens its connections at once.
    ///
    /// - Parameters:
    ///   - clock: reads the clocks; pools that share the credentials must share it, or they take each other's JWTs for wrong.
    ///   - proof: receives the time that APNs accepts; `clock` may follow it.
    ///   - onReport: called on the loop's thread with one line for operators. A line never contains a token or a key; equal
    ///     lines are reported once a minute.
    /// - Throws: `LoopError` for an unusable CA file, `CredentialsFault` for a bundle id that cannot be sent.
    package init(
        loop: Loop, source: any DeliverySource, credentials: ProviderToken, configuration: Configuration,
        clock: @escaping () -> Moment = ConnectionPool.systemClock, proof: WallProof = WallProof(),
        onReport: @escaping (String) -> Void
    ) throws {
        let bundleID = configuration.bundleID
        guard !bundleID.isEmpty, bundleID.utf8.allSatisfy({ (0x21..<0x7f).contains($0) }) else {
            throw CredentialsFault("the bundle id \"\(bundleID)\" should be the app's, such as com.example.app")
        }
        self.loop = loop
        self.source = source
        self.credentials = credentials
        self.configuration = configuration
        self.clock = clock
        self.proof = proof
        self.onReport = onReport
        context = try TLSContext.client(caFile: configuration.endpoint.caFile)
        share = configuration.quota.join()
        size = PoolSize(configuration.sizeLimits(share))
        slots = Array(repeating: ConnectionSlot(), count: size.count)
        requestFields = RequestFields(endpoint: configuration.endpoint, bundleID: bundleID)
        timer = DeadlineTimer(loop: loop) { [unowned self] in
            armTimer(at: now().monotonic)
        } onFire: { [unowned self] in
            timerFired()
        }
        let moment = clock()
        credentials.note(moment)
        turn(at: moment)
    }

    deinit { closeHandles() }

    private func closeHandles() {
        // A pool that has closed has no part of the quota to leave.
        guard timer != nil else { return }
        share.leave()
        timer?.close()
        timer = nil
    }

    package static func systemClock() -> Moment {
        Moment(wallMilliseconds: Clock.wallMilliseconds(), monotonicNanoseconds: Clock.monotonicNanoseconds())
    }

    func now() -> Moment { clock() }

    /// Number of open connections that take requests.
    package var connectionsOpen: Int { slots.count { $0.connection?.isOpen == true } }

    // MARK: Transport

    package var figures: TransportFigures {
        var figures = load.figures
        figures.connections = connectionsOpen
        figures.connectionsWanted = slots.count
        figures.connectionsOpened = Int(statistics.connectionsOpened)
        figures.inFlight = inFlight
        if inFlight == 0, trouble == nil { figures.limit = .nothing }
        return figures
    }

    /// `true` once as many connections are open as wanted; the minimum number is enough after ten seconds, so that nothing
    /// waits for the last of many.
    package var isReady: Bool {
        if connectionsOpen == slots.count, isLargeEnough { return true }
        guard choosesSize, let readyBy = reviews.readyBy else { return false }
        return connectionsOpen >= size.limits.leastHad && clock().monotonic >= readyBy
    }

    package func workAvailable() {
        sourceMayHaveWork = true
        turn(at: clock())
    }

    /// Closes the pool once the outstanding answers have arrived, or after `drainTimeout`; may call `closed` before it returns.
    package func close(_ closed: @escaping () -> Void) {
        guard !isClosing else { return }
        onClosed = closed
        let moment = clock()
        closesBy = moment.monotonic + configuration.drainTimeout
        for slot in slots { slot.connection?.drain(at: moment) }
        turn(at: moment)
    }

    // MARK: The turn

    /// Returns completions, pulls work while there is room for it, and sends it. Every event that may have changed anything
    /// ends in a turn.
    func turn(at moment: Moment) {
        // `source` may call back during the turn.
        guard !isTurning else { return }
        isTurning = true
        gate.pass(to: moment.monotonic)
        if moment.monotonic >= reviews.due { review(at: moment) }
        openSlots(at: moment)
        pullTurn.begin()
        repeat {
            complete(at: moment)
        } while pullTurn.mayPull(in: loop.turns, at: clock().monotonic) && pull(at: moment)
        complete(at: moment)
        // A pool with nothing in flight is not full; its connections wait for a sign of life.
        let isIdle = inFlight == 0 && mayGrow(at: moment.monotonic)
        if !sourceMayHaveWork || isClosing || isIdle { load.hadRoom = true }
        if share.isStale { noteSlots() }
        isTurning = false
        finishClosing()
        deadlinesChanged()
    }

    private func complete(at moment: Moment) {
        guard !completions.isEmpty else { return }
        swap(&completions, &completionsSpare)
        source.complete(completionsSpare, at: moment)
        completionsSpare.removeAll(keepingCapacity: true)
        // An activity that is free again may be due at once.
        sourceMayHaveWork = true
    }

    /// Pulls in the source's order while the service is known to work, and by lot otherwise.
    private func fillBatch(limit: Int, at moment: Moment) {
        guard !gate.isOpen || !gate.hasWorked else { return source.pull(limit: limit, at: moment, into: &batch) }
        var before = -1
        while batch.deliveries.count < limit, batch.deliveries.count > before {
            before = batch.deliveries.count
            source.pullByLot(random.next(), at: moment, into: &batch)
        }
    }

    /// Pulls deliveries for one connection and sends them.
    ///
    /// - Returns: `true` if another pull may bring more.
    private func pull(at moment: Moment) -> Bool {
        guard sourceMayHaveWork, !isClosing else { return false }
        let now = moment.monotonic
        guard now > timeChangedAt else {
            pullTurn.cutShort()
            return false
        }
        if gate.closedUntil != nil, serials.key != 0 { noticeMended(at: moment) }
        let gateRoom = gate.room(at: now)
        guard gateRoom > 0 else { return false }
        guard !candidates.isEmpty, let issue = issue(at: moment) else { return false }
        let agreed = issue.agreeing(with: moment)
        // Asked before a connection is chosen, which costs as much as there are connections with room.
        guard source.mayHavePushes(at: agreed) else {
            sourceMayHaveWork = false
            return false
        }
        guard let (connection, room) = nextConnection(at: now) else { return false }
        let limit = min(room, gateRoom)
        let authorization = requestFields.authorization(issue)

        batch.removeAll()
        fillBatch(limit: limit, at: agreed)
        sourceMayHaveWork = batch.deliveries.count == limit
        var allSent = true
        var next = 0
        while next < batch.deliveries.count {
            let run = batch.run(from: next)
            next = run.upperBound
            guard let form = form(of: batch.deliveries[run.lowerBound], authorization, at: now) else {
                statistics.unencodable += UInt64(run.count)
                finish(run, .refused)
                continue
            }
            // Windows that were too small for a body may hold a far smaller one.
            if form.body.count < bodySize.last / 2 {
                for case let connection? in slots.lazy.map(\.connection) { candidates.add(connection) }
            }
            let sent = connection.send(run, of: batch, as: form, at: now)
            inFlight += sent
            bodySize.note(form.body.count, of: sent, at: now)
            gate.sent(sent)
            statistics.sent += UInt64(sent)
            statistics.bodyBytes += UInt64(sent * form.body.count)
            // The connection has just run out of stream IDs, and the peer has not seen the remaining pushes.
            finish(run.dropFirst(sent), .notProcessed)
            allSent = allSent && sent == run.count
        }
        // The output is flushed while it is still in the processor's cache, because a turn may bring more requests than the cache holds.
        connection.flush()
        if next > 0 { candidates.moveToEnd(connection) }
        return allSent
    }

    /// Returns the connection to use next, by the rules of `NextConnection`; of equals, the least recently used one. Each
    /// error counts if one push is to be tried or nothing is in flight; otherwise only a doubt about the connection counts.
    private func nextConnection(at now: MonotonicTime) -> (Connection, room: Int)? {
        let isSpreading = now < pullTurn.spreadsUntil && slots.contains { $0.connection?.awaitsSignOfLife == true }
        if isSpreading { load.hadRoom = true }
        // Another connection is as fast while nothing is in flight, and an activity that fails again has then failed on two.
        let countsEachError = gate.isTrying || inFlight == 0
        return candidates.next { connection, index, next in
            var room = connection.room(bodyBytes: bodySize.last, at: now)
            guard room > 0 else { return false }
            if isSpreading {
                room = min(room, widthAtFirst - connection.inFlight)
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

    /// Spreads the next pushes over all connections, of which one has just been asked for a sign of life: the first to answer would take
    /// them all, and need many more round trips than all of them together. After a long silence TCP sends no more than `widthAtFirst` in the
    /// first round trip anyway, so nothing is lost if the others answer a round trip later; a connection that does not is not waited for.
    func awaitSigns(at now: MonotonicTime) {
        pullTurn.spreadsUntil = now.advanced(
            byNanoseconds: 2 * (plannedPath?.roundTrip ?? 0) + ConnectionPool.signsMargin)
    }

    /// Returns the request of a delivery, and of those after it that carry the same payload; `nil` if that cannot be encoded.
    private func form(
        of delivery: Delivery, _ authorization: RequestFields.Authorization, at now: MonotonicTime
    ) -> RequestFields.Form? {
        guard let joined = batch.joinedPayload(of: delivery) else {
            let payload = batch.payload(of: delivery)
            if !payload.isEncoded { encode(payload, at: now) }
            guard !payload.encodedBody.isEmpty else { return nil }
            return requestFields.form(of: payload, body: payload.encodedBody, authorization: authorization)
        }
        do throws(PayloadFault.Problem) {
            return try requestFields.form(of: joined, in: batch, authorization: authorization)
        } catch {
            report("\(PayloadFault(logLabel: batch.payload(of: delivery).logLabel, problem: error))", at: now)
            return nil
        }
    }

    /// Encodes a payload. Empty bytes mark a payload that cannot be encoded, so that it is reported once.
    private func encode(_ payload: Payload, at now: MonotonicTime) {
        payload.isEncoded = true
        do throws(PayloadFault) {
            try PayloadEncoder.encode(payload, into: &payload.encodedBody)
        } catch {
            payload.encodedBody.removeAll(keepingCapacity: true)
            report("\(error)", at: now)
        }
    }

    private func issue(at moment: Moment) -> ProviderToken.Issue? {
        do {
            let issue = try credentials.current(at: moment)
            if let complaint = issue.complaint { report(complaint, at: moment.monotonic) }
            guard !serials.belong(toOtherThan: issue.keySerial) else {
                changeKey(to: issue.keySerial, at: moment)
                return nil
            }
            if serials.send(issue.serial, of: issue.keySerial), replaceThoseThatSawExpiredJWT(at: moment) {
                return nil
            }
            serials.noteSent(issue.serial)
            // A refusal clears the proven time; a pool with another key may have cleared it, so it is set here again.
            if let origin = issue.provenOrigin { proof.origin = origin }
            return issue
        } catch {
            couldNotSign(error, at: moment.monotonic)
            return nil
        }
    }

    /// Replaces all connections, because a connection belongs to the key that was first used on it (spec §9.2, documented).
    func changeKey(to serial: UInt64, at moment: Moment) {
        serials.changeKey(to: serial)
        gate.changeKey()
        report("the provider key has changed; connections are replaced", at: moment.monotonic)
        replacements.forget()
        for index in slots.indices {
            // The peer does not cause these replacements, so its earlier ends of connections do not count.
            guard let connection = slots[index].connection else { continue }
            vacate(index, for: .nanoseconds(Int64.random(in: 0...spread(of: index), using: &random)), at: moment)
            leave(connection, at: moment)
        }
    }

    /// Tries a push at once if the key or the machine's clock has been repaired. Nothing else would notice, because no JWT
    /// is requested while nothing is sent.
    private func noticeMended(at moment: Moment) {
        let serial = credentials.keySerial(at: moment)
        if serial != serials.key {
            changeKey(to: serial, at: moment)
        } else if !credentials.knowsAnotherTime(at: moment) {
            return
        }
        gate.tryNow(at: moment.monotonic)
    }

    /// Interval between two checks for a repair while nothing is sent.
    private static let noticeInterval = Duration.seconds(1)

    private func finish(_ run: Range<Int>, _ outcome: DeliveryOutcome) {
        for delivery in batch.deliveries[run] {
            completions.append(Completion(slot: delivery.slot, generation: delivery.generation, outcome: outcome))
        }
    }

    private func finishClosing() {
        guard let closed = onClosed, draining.isEmpty, slots.allSatisfy({ $0.connection == nil }) else { return }
        onClosed = nil
        closeHandles()
        closed()
    }

    // MARK: Time

    private func timerFired() {
        let moment = clock()
        guard timer?.fires(at: moment.monotonic, inTurn: loop.turns) == true else { return }
        for connection in slots.compactMap(\.connection) + draining {
            if moment.monotonic >= closesBy {
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
        var due = pullTurn.isCutShort ? now + PullTurn.pause : closesBy
        // This loop copies no slot.
        for index in slots.indices {
            if let connection = slots[index].connection {
                due = min(due, connection.nextDeadline)
                guard slots[index].isInDoubt else { continue }
            }
            if !isClosing, mayDial(index) { due = min(due, slots[index].opensAt) }
        }
        for connection in draining { due = min(due, connection.nextDeadline) }
        // A gate that may open needs no timer: the next event that finds work opens it.
        if let closedUntil = gate.closedUntil, closedUntil > now, !isClosing {
            due = min(due, closedUntil, now + ConnectionPool.noticeInterval)
        }
        if let review = nextReview(at: now), !isClosing { due = min(due, review) }
        if let opens = gate.opensWhollyAt, opens > now, !isClosing { due = min(due, opens) }
        if sourceMayHaveWork, pullTurn.spreadsUntil > now { due = min(due, pullTurn.spreadsUntil) }
        timer?.arm(at: due, now: now)
    }
}
