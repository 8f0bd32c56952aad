package import FanfareFanOut
import FanfareHTTP2
package import FanfareLoop
package import FanfareModel

/// Brings one shard's deliveries to APNs over a few HTTP/2 connections.
///
/// It asks its source for work when a connection has room, never because work is waiting, and gives each delivery back as
/// exactly one completion, all those of a read together. Everything that goes wrong is waited out: connections come back
/// with growing waits, and `PullGate` stops the asking while APNs is in trouble or we are misconfigured. Nothing is sent
/// twice by the pool: what to do about an unknown outcome is the source's decision.
///
/// Confined to its loop's thread. The source outlives the pool, or the pool is closed before the source goes.
package final class ConnectionPool: Transport {
    /// Between connections that opened and were of little use, at most.
    static let seatWaitMax = Duration.seconds(60)

    let loop: Loop
    let configuration: Configuration
    let context: TLSContext
    unowned let source: any DeliverySource
    let credentials: ProviderToken
    private let clock: () -> Moment
    let proof: WallProof
    let onReport: (String) -> Void
    @exclusivity(unchecked) private var requestFields: RequestFields
    /// Of the key that the connections belong to; 0 before the first push.
    private(set) var keySerial: UInt64 = 0
    /// Of the JWT sent last, of the one that APNs accepted last since it refused any, and of the newest one, of this key and of the key
    /// before.
    private var tokenSerial: UInt64 = 0
    @exclusivity(unchecked) var acceptedTokenSerial: UInt64 = 0
    /// Monotonic nanoseconds; of the moment at which pushes went over to another time. What is sent has to be of a later reading of the
    /// clocks: stamped by the time before, it would be accepted now, and phones would drop it.
    var timeChangedAt = Int64.min
    private var newestTokenSerial: UInt64 = 0
    private(set) var formerKeysTokenSerial: UInt64 = 0
    var random = SystemRandomNumberGenerator()
    /// Of the endpoint's host, when a connection to one of them opened last: for times when no name server answers.
    var goodAddresses: [SocketAddress] = []
    var addressDoubts = AddressDoubts()
    var reports = ReportLog()
    /// The last certificate was not valid by the time that was gone by: it may be that one that is wrong, or the machine's clock.
    var certificateIsInDoubt = false

    var seats: [Seat]
    var size: PoolSize
    /// What was seen of the load until the last review, and when the next one is due.
    var load = Load()
    var reviewDue = Int64.min
    /// As it is without a queue.
    var plannedPath: PoolSize.Path?
    var replacements = Replacements()
    @exclusivity(unchecked) var lifespan = Lifespan()
    /// Monotonic nanoseconds. Until then it is not ready while it may still grow; set with the first review.
    var readyBy: Int64?
    /// Connections that take no new requests and wait for their last answers, or for the peer's farewell.
    var draining: [Connection] = []
    @exclusivity(unchecked) var candidates = Candidates<Connection>()
    /// Connections opened, by which `Suspects` tells them apart.
    var connectionSerial: UInt64 = 0
    // Unchecked for the reason given in `Connection`.
    @exclusivity(unchecked) var gate = PullGate()
    @exclusivity(unchecked) var suspects = Suspects()
    /// Ended by the peer before the first answer, or by an answer that asks for another one, since the last push that was answered.
    @exclusivity(unchecked) var connectionsInVain = 0
    static let connectionsInVainMax = 4
    /// What people were told of connections that the service ended in vain; `nil` once one has stayed.
    var troubleInVain: Trouble?
    /// On all connections.
    @exclusivity(unchecked) var inFlight = 0
    /// False from a pull that brought less than was asked for until the source says otherwise, or completions may have
    /// made more due.
    var sourceMayHaveWork = true
    @exclusivity(unchecked) private var batch = DeliveryBatch()
    /// Of the connection that writes, or its own while it does.
    @exclusivity(unchecked) var requestMemory = OutputBuffer(capacity: 4096)
    @exclusivity(unchecked) var completions: [Completion] = []
    private var completionsSpare: [Completion] = []
    private var isTurning = false
    /// The last turn ended before the source or the room did.
    private var wasCutShort = false
    /// Of the last body sent, to tell how many a window holds. Bodies of one time are much alike.
    @exclusivity(unchecked) private(set) var bodyBytes = 1024
    /// The same of many.
    @exclusivity(unchecked) private(set) var bodyBytesUsual = 512

    private var timer: LoopTimer?
    /// When the timer fires. It may fire early, and then finds nothing to do.
    private var timerDue = Int64.max
    /// The loop's turn in which the timer came late; it comes again in another one, when what has come meanwhile was read.
    private var lateIn: UInt64?
    private static let lateness: Int64 = 50_000_000
    private var onClosed: (() -> Void)?
    private var closesBy = Int64.max
    var isClosing: Bool { closesBy != .max }

    @exclusivity(unchecked) package internal(set) var statistics = TransportStatistics()
    /// `nil` while pushes are accepted, and before anything has gone wrong.
    @exclusivity(unchecked) package internal(set) var trouble: Trouble?

    /// Opens its connections at once.
    ///
    /// - Parameters:
    ///   - clock: the same for all that share the credentials, or they take each other's JWTs for wrong.
    ///   - proof: told which time APNs goes by; what `clock` says may follow it.
    ///   - onReport: one line for operators, on the loop's thread. Never holds a token or a key; equal lines come once a
    ///     minute.
    /// - Throws: `LoopError` for a CA file that cannot be used, `CredentialsFault` for a bundle id that cannot be sent.
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
        size = PoolSize(configuration.sizeLimits)
        seats = Array(repeating: Seat(), count: size.count)
        requestFields = RequestFields(endpoint: configuration.endpoint, bundleID: bundleID)
        timer = LoopTimer(loop: loop) { [unowned self] in self.timerFired() }
        let moment = clock()
        credentials.note(moment)
        turn(at: moment)
    }

    deinit { timer?.close() }

    package static func systemClock() -> Moment {
        Moment(wallMilliseconds: Clock.wallMilliseconds(), monotonicNanoseconds: Clock.monotonicNanoseconds())
    }

    func now() -> Moment { clock() }

    /// Open connections that take requests.
    package var connectionsOpen: Int { seats.count { $0.connection?.isOpen == true } }

    // MARK: Transport

    package var figures: TransportFigures {
        var figures = load.figures
        figures.connections = connectionsOpen
        figures.connectionsWanted = seats.count
        figures.connectionsOpened = Int(statistics.connectionsOpened)
        figures.inFlight = inFlight
        if inFlight == 0, trouble == nil { figures.limit = .nothing }
        return figures
    }

    /// As many connections are open as are wanted; or, after a while, as few as any pool has: nobody waits for the last of many.
    package var isReady: Bool {
        if connectionsOpen == seats.count, isLargeEnough { return true }
        guard choosesSize, let readyBy else { return false }
        return connectionsOpen >= size.limits.leastHad && clock().monotonicNanoseconds >= readyBy
    }

    package func workAvailable() {
        sourceMayHaveWork = true
        turn(at: clock())
    }

    /// Waits for the answers that are out, at most `drainTimeout`; may call `closed` before it returns.
    package func close(_ closed: @escaping () -> Void) {
        guard !isClosing else { return }
        onClosed = closed
        let moment = clock()
        closesBy = moment.monotonicNanoseconds + configuration.drainTimeout.nanoseconds
        for seat in seats { seat.connection?.drain(at: moment) }
        turn(at: moment)
    }

    // MARK: The turn

    /// Gives completions back, asks for work while there is room for it, and sends it. Every event that may have changed
    /// anything ends here.
    func turn(at moment: Moment) {
        // What `source` does in here may call back.
        guard !isTurning else { return }
        isTurning = true
        gate.pass(to: moment.monotonicNanoseconds)
        if moment.monotonicNanoseconds >= reviewDue { review(at: moment) }
        openSeats(at: moment)
        var pulls = 0
        repeat {
            complete(at: moment)
            pulls += 1
            wasCutShort = pulls > ConnectionPool.pullsPerTurnMax
        } while !wasCutShort && pull(at: moment)
        complete(at: moment)
        // What has nothing in flight is not full: it waits for a sign of life.
        let isIdle = inFlight == 0 && mayGrow(at: moment.monotonicNanoseconds)
        if !sourceMayHaveWork || isClosing || isIdle { load.hadRoom = true }
        isTurning = false
        finishClosing()
        armTimer(at: moment.monotonicNanoseconds)
    }

    private func complete(at moment: Moment) {
        guard !completions.isEmpty else { return }
        swap(&completions, &completionsSpare)
        source.complete(completionsSpare, at: moment)
        completionsSpare.removeAll(keepingCapacity: true)
        // An activity that is free again may be due at once.
        sourceMayHaveWork = true
    }

    /// Payloads that cannot be encoded need no room, so room alone does not bound a turn.
    private static let pullsPerTurnMax = 256
    /// Deliveries per pull: enough to make a pull's cost small, few enough to spread over connections.
    private static let pullMax = 128

    /// - Returns: whether another pull may bring more.
    private func pull(at moment: Moment) -> Bool {
        guard sourceMayHaveWork, !isClosing else { return false }
        let now = moment.monotonicNanoseconds
        guard now > timeChangedAt else {
            wasCutShort = true
            return false
        }
        if gate.closedUntil != nil, keySerial != 0 { noticeMended(at: moment) }
        let gateRoom = gate.room(inFlight: inFlight, at: now)
        guard gateRoom > 0 else { return false }
        guard let (connection, room) = nextConnection(at: now), let issue = issue(at: moment) else { return false }
        let limit = min(room, gateRoom, ConnectionPool.pullMax)
        let authorization = requestFields.authorization(issue)

        batch.removeAll()
        source.pull(limit: limit, at: issue.agreeing(with: moment), into: &batch)
        sourceMayHaveWork = batch.deliveries.count == limit
        var allSent = true
        var next = 0
        while next < batch.deliveries.count {
            let run = batch.run(from: next)
            next = run.upperBound
            let payload = batch.payload(of: batch.deliveries[run.lowerBound])
            if !payload.isEncoded { encode(payload, at: now) }
            let body = payload.wire
            guard !body.isEmpty else {
                statistics.unencodable += UInt64(run.count)
                finish(run, .refused)
                continue
            }
            // Windows that were too small for a body may hold a far smaller one.
            if body.count < bodyBytes / 2 {
                for case let connection? in seats.lazy.map(\.connection) { candidates.add(connection) }
            }
            bodyBytes = body.count
            bodyBytesUsual += (body.count - bodyBytesUsual) / 8
            let form = requestFields.form(of: payload, body: body, authorization: authorization)
            let sent = connection.send(run, of: batch, as: form, at: now)
            inFlight += sent
            statistics.sent += UInt64(sent)
            statistics.bodyBytes += UInt64(sent * bodyBytes)
            // The connection ran out of stream ids just now: nobody has seen the rest.
            finish(run.dropFirst(sent), .notProcessed)
            allSent = allSent && sent == run.count
        }
        // While what was written is still in the processor's cache: a turn may bring more requests than that holds.
        connection.flush()
        if next > 0 { candidates.moveToEnd(connection) }
        return allSent
    }

    /// The connection to use next, as `NextConnection` says: of equals the one that was used longest ago. Each error counts if one push is to
    /// be tried, or nothing is in flight; otherwise that a connection is in doubt.
    private func nextConnection(at now: Int64) -> (Connection, room: Int)? {
        // With nothing in flight, too, another one is as fast, and whoever fails again has then failed on two.
        let countsEachError = gate.isTrying || inFlight == 0
        return candidates.next { connection, index, next in
            let room = connection.room(bodyBytes: bodyBytes, at: now)
            guard room > 0 else { return false }
            let disbelieved = connection.disbelievedInARow
            let errors =
                countsEachError
                ? connection.errorsInARow + disbelieved : connection.isInDoubt || disbelieved > 1 ? 1 : 0
            next.offer(
                index, room: room, inFlight: connection.inFlight, errors: errors, isSlow: connection.isSlow,
                lag: connection.slowness.lag)
            return true
        }
    }

    /// Empty bytes mark a payload that cannot be encoded, so that it is reported once.
    private func encode(_ payload: Payload, at now: Int64) {
        payload.isEncoded = true
        do throws(PayloadFault) {
            try PayloadEncoder.encode(payload, into: &payload.wire)
        } catch {
            payload.wire.removeAll(keepingCapacity: true)
            report("\(error)", at: now)
        }
    }

    private func issue(at moment: Moment) -> ProviderToken.Issue? {
        do {
            let issue = try credentials.current(at: moment)
            if let complaint = issue.complaint { report(complaint, at: moment.monotonicNanoseconds) }
            guard keySerial == 0 || keySerial == issue.keySerial else {
                changeKey(to: issue.keySerial, at: moment)
                return nil
            }
            keySerial = issue.keySerial
            if tokenSerial != issue.serial {
                (tokenSerial, acceptedTokenSerial) = (issue.serial, 0)
                guard !replaceThoseThatSawExpiredJWT(at: moment) else { return nil }
            }
            newestTokenSerial = max(newestTokenSerial, issue.serial)
            // Refusals take it back; here somebody else's may have, who shares no key with us.
            if let origin = issue.provenOrigin { proof.origin = origin }
            return issue
        } catch {
            couldNotSign(error, at: moment.monotonicNanoseconds)
            return nil
        }
    }

    /// A connection belongs to the key that was first used on it (spec §9.2, documented).
    func changeKey(to serial: UInt64, at moment: Moment) {
        keySerial = serial
        formerKeysTokenSerial = newestTokenSerial
        gate.changeKey()
        report("the provider key has changed; connections are replaced", at: moment.monotonicNanoseconds)
        replacements.forget()
        for index in seats.indices {
            // Not for the peer's sake: how often it has ended them before does not matter.
            guard let connection = seats[index].connection else { continue }
            vacate(index, for: .nanoseconds(Int64.random(in: 0...spread(of: index), using: &random)), at: moment)
            leave(connection, at: moment)
        }
    }

    /// While nothing is sent nobody asks for a JWT, and it may be the key that has to be mended, or the machine's clock: then nobody
    /// waits on.
    private func noticeMended(at moment: Moment) {
        let serial = credentials.keySerial(at: moment)
        if serial != keySerial {
            changeKey(to: serial, at: moment)
        } else if !credentials.knowsAnotherTime(at: moment) {
            return
        }
        gate.tryNow()
    }

    /// Between two looks at what may have been mended, while nothing is sent.
    private static let noticeInterval = Duration.seconds(1)

    private func finish(_ run: Range<Int>, _ outcome: DeliveryOutcome) {
        for delivery in batch.deliveries[run] {
            completions.append(Completion(slot: delivery.slot, generation: delivery.generation, outcome: outcome))
        }
    }

    private func finishClosing() {
        guard let closed = onClosed, draining.isEmpty, seats.allSatisfy({ $0.connection == nil }) else { return }
        onClosed = nil
        timer?.close()
        timer = nil
        closed()
    }

    // MARK: Time

    private func timerFired() {
        let moment = clock()
        // A thread that could not run for a while finds that everybody's time is over, and the answers that have come meanwhile unread.
        let latest = timerDue == .max ? .max : timerDue + ConnectionPool.lateness
        if lateIn == loop.turns || lateIn == nil && moment.monotonicNanoseconds > latest {
            lateIn = loop.turns
            // Nobody else arms it until it has come back.
            timerDue = .min
            timer?.start(after: .milliseconds(1))
            return
        }
        lateIn = nil
        timerDue = .max
        for connection in seats.compactMap(\.connection) + draining {
            if moment.monotonicNanoseconds >= closesBy {
                connection.abort(at: moment)
            } else {
                connection.tick(at: moment)
            }
        }
        turn(at: moment)
    }

    /// The timer fires when the first deadline is over.
    func armTimer(at now: Int64) {
        guard let timer else { return }
        var due = wasCutShort ? now : closesBy
        // With each turn: no seat is copied.
        for index in seats.indices {
            if let connection = seats[index].connection {
                due = min(due, connection.nextDeadline)
                guard seats[index].isInDoubt else { continue }
            }
            if !isClosing, mayDial(index) { due = min(due, seats[index].opensAt) }
        }
        for connection in draining { due = min(due, connection.nextDeadline) }
        // Once it may open, the next event that finds work opens it.
        if let closedUntil = gate.closedUntil, closedUntil > now, !isClosing {
            due = min(due, closedUntil, now + ConnectionPool.noticeInterval.nanoseconds)
        }
        if let review = nextReview(at: now), !isClosing { due = min(due, review) }
        if let opens = gate.opensWhollyAt, opens > now, !isClosing { due = min(due, opens) }
        // A timer that is long over and has not fired: the machine slept, and libuv's clock with it.
        let hasSlept = lateIn == nil && timerDue < now - ConnectionPool.lateness
        guard due < timerDue || hasSlept else { return }
        timerDue = due
        timer.start(after: .nanoseconds(max(0, due - now)))
    }
}
