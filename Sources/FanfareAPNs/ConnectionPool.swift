public import FanfareCore
import FanfareHTTP2
public import FanfareLoop

/// Brings one shard's deliveries to APNs over a few HTTP/2 connections.
///
/// It asks its source for work when a connection has room, never because work is waiting, and gives each delivery back as
/// exactly one completion, all those of a read together. Everything that goes wrong is waited out: connections come back
/// with growing waits, and `PullGate` stops the asking while APNs is in trouble or we are misconfigured. Nothing is sent
/// twice by the pool: what to do about an unknown outcome is the source's decision.
///
/// Confined to its loop's thread. The source outlives the pool, or the pool is closed before the source goes.
public final class ConnectionPool: Transport {
    public struct Configuration: Sendable {
        public var endpoint: Endpoint
        /// The app's; the push topic is made of it.
        public var bundleID: String
        /// APNs asks for several rather than bursts on few; two saturate a loopback.
        public var connections: Int
        /// After this a request's outcome is unknown and its activity free again.
        public var requestTimeout: Duration = .seconds(10)
        /// For a look-up of the name, and again for the way from one address to the first SETTINGS.
        public var connectTimeout: Duration = .seconds(10)
        /// With requests in flight and nothing heard for so long, a PING asks whether anybody is there.
        public var pingAfter: Duration = .seconds(4)
        /// For its answer. Together less than a request's timeout, so that a dead connection is found as one.
        public var pingTimeout: Duration = .seconds(5)
        /// How long `close` waits for answers.
        public var drainTimeout: Duration = .seconds(10)

        public init(endpoint: Endpoint, bundleID: String, connections: Int = 2) {
            self.endpoint = endpoint
            self.bundleID = bundleID
            self.connections = connections
        }
    }

    /// A place for one connection, which is replaced when it ends.
    private struct Seat {
        var connection: Connection?
        var backoff = Backoff(first: .milliseconds(100), most: .seconds(60))
        /// Monotonic nanoseconds; meaningful while there is no connection.
        var opensAt: Int64 = 0
    }

    let loop: Loop
    let configuration: Configuration
    let context: TLSContext
    private unowned let source: any DeliverySource
    let credentials: ProviderToken
    private let clock: () -> Moment
    let onReport: (String) -> Void
    @exclusivity(unchecked) private var requestFields: RequestFields
    /// Of the key that the connections belong to; 0 before the first push.
    private var keySerial: UInt64 = 0
    var random = SystemRandomNumberGenerator()
    var reports = ReportLog()

    private var seats: [Seat]
    /// Connections that take no new requests and wait for their last answers, or for the peer's farewell.
    private var draining: [Connection] = []
    // Unchecked for the reason given in `Connection`.
    @exclusivity(unchecked) var gate = PullGate()
    /// On all connections.
    @exclusivity(unchecked) var inFlight = 0
    /// False from a pull that brought less than was asked for until the source says otherwise, or completions may have
    /// made more due.
    private var sourceMayHaveWork = true
    @exclusivity(unchecked) private var batch = DeliveryBatch()
    @exclusivity(unchecked) var completions: [Completion] = []
    private var completionsSpare: [Completion] = []
    private var isTurning = false
    /// The last turn ended before the source or the room did.
    private var wasCutShort = false
    /// Of the last body sent, to tell how many a window holds. Bodies of one time are much alike.
    @exclusivity(unchecked) private var bodyBytes = 1024

    private var timer: LoopTimer?
    /// When the timer fires. It may fire early, and then finds nothing to do.
    private var timerDue = Int64.max
    private var onClosed: (() -> Void)?
    private var closesBy = Int64.max
    private var isClosing: Bool { closesBy != .max }

    @exclusivity(unchecked) public internal(set) var statistics = TransportStatistics()
    /// `nil` while pushes are accepted, and before anything has gone wrong.
    @exclusivity(unchecked) public internal(set) var trouble: Trouble?

    /// Opens its connections at once.
    ///
    /// - Parameters:
    ///   - onReport: one line for operators, on the loop's thread. Never holds a token or a key; equal lines come once a
    ///     minute.
    /// - Throws: `LoopError` for a CA file that cannot be used, `CredentialsFault` for a bundle id that cannot be sent.
    public init(
        loop: Loop, source: any DeliverySource, credentials: ProviderToken, configuration: Configuration,
        clock: @escaping () -> Moment = ConnectionPool.systemClock, onReport: @escaping (String) -> Void
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
        self.onReport = onReport
        context = try TLSContext.client(caFile: configuration.endpoint.caFile)
        seats = Array(repeating: Seat(), count: max(1, configuration.connections))
        requestFields = RequestFields(endpoint: configuration.endpoint, bundleID: bundleID)
        timer = LoopTimer(loop: loop) { [unowned self] in self.timerFired() }
        turn(at: clock())
    }

    deinit { timer?.close() }

    public static func systemClock() -> Moment {
        Moment(wallMilliseconds: Clock.wallMilliseconds(), monotonicNanoseconds: Clock.monotonicNanoseconds())
    }

    func now() -> Moment { clock() }
    func shuffled(_ addresses: [SocketAddress]) -> [SocketAddress] { addresses.shuffled(using: &random) }

    /// Open connections that take requests.
    public var connectionsOpen: Int { seats.count { $0.connection?.isOpen == true } }

    // MARK: Transport

    public var isReady: Bool { connectionsOpen == seats.count }

    public func workAvailable() {
        sourceMayHaveWork = true
        turn(at: clock())
    }

    /// Waits for the answers that are out, at most `drainTimeout`; may call `closed` before it returns.
    public func close(_ closed: @escaping () -> Void) {
        guard !isClosing else { return }
        onClosed = closed
        let moment = clock()
        closesBy = moment.monotonicNanoseconds + configuration.drainTimeout.nanoseconds
        for seat in seats { seat.connection?.leaveWhenDone(at: moment) }
        turn(at: moment)
    }

    // MARK: The turn

    /// Gives completions back, asks for work while there is room for it, and sends it. Every event that may have changed
    /// anything ends here.
    func turn(at moment: Moment) {
        // What `source` does in here may call back.
        guard !isTurning else { return }
        isTurning = true
        openSeats(at: moment)
        var pulls = 0
        repeat {
            complete(at: moment)
            pulls += 1
            wasCutShort = pulls > ConnectionPool.pullsPerTurnMax
        } while !wasCutShort && pull(at: moment)
        complete(at: moment)
        for seat in seats { seat.connection?.flush() }
        isTurning = false
        finishClosing()
        armTimer(at: moment)
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
        var roomiest: Connection?
        var room = 0
        for seat in seats {
            guard let connection = seat.connection else { continue }
            let its = connection.room(bodyBytes: bodyBytes)
            if its > room { (roomiest, room) = (connection, its) }
        }
        let now = moment.monotonicNanoseconds
        let limit = min(room, gate.room(inFlight: inFlight, at: now), ConnectionPool.pullMax)
        guard let connection = roomiest, limit > 0, let authorization = authorization(at: moment) else { return false }

        batch.removeAll()
        source.pull(limit: limit, at: moment, into: &batch)
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
            bodyBytes = body.count
            let form = requestFields.form(of: payload, body: body, authorization: authorization)
            let sent = connection.send(run, of: batch, as: form, at: now)
            inFlight += sent
            statistics.sent += UInt64(sent)
            statistics.bodyBytes += UInt64(sent * bodyBytes)
            // The connection ran out of stream ids just now: nobody has seen the rest.
            finish(run.dropFirst(sent), .notProcessed)
            allSent = allSent && sent == run.count
        }
        connection.flushRecords()
        return allSent
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

    private func authorization(at moment: Moment) -> RequestFields.Authorization? {
        do {
            let issue = try credentials.current(wallSeconds: moment.wallSeconds)
            if let complaint = issue.complaint { report(complaint, at: moment.monotonicNanoseconds) }
            guard keySerial == 0 || keySerial == issue.keySerial else {
                changeKey(to: issue.keySerial, at: moment)
                return nil
            }
            keySerial = issue.keySerial
            return requestFields.authorization(issue)
        } catch {
            couldNotSign(error, at: moment.monotonicNanoseconds)
            return nil
        }
    }

    /// A connection belongs to the key that was first used on it (spec §9.2, documented).
    private func changeKey(to serial: UInt64, at moment: Moment) {
        keySerial = serial
        report("the provider key has changed; connections are replaced", at: moment.monotonicNanoseconds)
        for connection in seats.compactMap(\.connection) { replace(connection, at: moment) }
    }

    private func finish(_ run: Range<Int>, _ outcome: DeliveryOutcome) {
        for delivery in batch.deliveries[run] {
            completions.append(Completion(slot: delivery.slot, generation: delivery.generation, outcome: outcome))
        }
    }

    // MARK: Connections

    private func openSeats(at moment: Moment) {
        guard !isClosing else { return }
        for index in seats.indices
        where seats[index].connection == nil && seats[index].opensAt <= moment.monotonicNanoseconds {
            let connection = Connection(pool: self)
            seats[index].connection = connection
            connection.open(at: moment.monotonicNanoseconds)
        }
    }

    func connectionHasRoom() {
        guard sourceMayHaveWork, !isClosing else { return }
        turn(at: clock())
    }

    func opened(_ connection: Connection) {
        statistics.connectionsOpened += 1
        if trouble?.kind == .connection { trouble = nil }
    }

    /// A push on this connection has been processed: whatever comes next is no continuation of old trouble.
    func proved(_ connection: Connection) {
        guard let index = seats.firstIndex(where: { $0.connection === connection }) else { return }
        seats[index].backoff.reset()
    }

    /// - Parameter reason: `nil` for the ordinary end of a connection, which is no news once it has done its work.
    func connectionWasToldToGo(_ connection: Connection, reason: String?, at moment: Moment) {
        if reason != nil || !connection.isProved {
            let reason = reason ?? "no reason given"
            report(
                "\(configuration.endpoint) ends a connection: \(reason); it is replaced",
                at: moment.monotonicNanoseconds)
        }
        replace(connection, at: moment)
    }

    /// It resets request after request; behind another one may be a server that does not.
    func connectionIsOfNoUse(_ connection: Connection, _ code: ErrorCode, at moment: Moment) {
        report(
            "\(configuration.endpoint) resets every request on a connection (\(code)); it is replaced",
            at: moment.monotonicNanoseconds)
        replace(connection, at: moment)
    }

    /// The connection takes no more requests and ends with those in flight; its seat is free for another one, at once if
    /// the old one was of use.
    func replace(_ connection: Connection, at moment: Moment) {
        let now = moment.monotonicNanoseconds
        if let index = seats.firstIndex(where: { $0.connection === connection }) {
            vacate(index, waits: !connection.isProved, at: now)
            draining.append(connection)
        }
        connection.drain(at: now)
    }

    /// - Parameter lingers: it carries nothing any more, but is not closed yet, and ends once more when it is.
    func ended(_ connection: Connection, _ ending: Connection.Ending, at moment: Moment, lingers: Bool = false) {
        let now = moment.monotonicNanoseconds
        draining.removeAll { $0 === connection }
        if lingers { draining.append(connection) }
        if let index = seats.firstIndex(where: { $0.connection === connection }) {
            vacate(index, waits: !connection.wasWorthwhile, at: now)
        }
        switch ending {
        case .drained: break
        case .notOpened(let text):
            statistics.connectFailures += 1
            let line = "\(text); trying again"
            if connectionsOpen == 0 { trouble(.connection, line, at: now) } else { report(line, at: now) }
        case .lost(let text):
            statistics.connectionsLost += 1
            report("\(text); connecting again", at: now)
            if connectionsOpen == 0 { trouble = trouble ?? Trouble(kind: .connection, text: text, since: now) }
        }
    }

    private func vacate(_ index: Int, waits: Bool, at now: Int64) {
        seats[index].connection = nil
        seats[index].opensAt = now + (waits ? seats[index].backoff.next(using: &random).nanoseconds : 0)
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
        timerDue = .max
        let moment = clock()
        for connection in seats.compactMap(\.connection) + draining {
            if moment.monotonicNanoseconds >= closesBy {
                connection.abort(at: moment)
            } else {
                connection.tick(at: moment)
            }
        }
        turn(at: moment)
    }

    private func armTimer(at moment: Moment) {
        guard let timer else { return }
        var due = wasCutShort ? moment.monotonicNanoseconds : closesBy
        for seat in seats {
            if let connection = seat.connection {
                due = min(due, connection.nextDeadline)
            } else if !isClosing {
                due = min(due, seat.opensAt)
            }
        }
        for connection in draining { due = min(due, connection.nextDeadline) }
        // Once it may open, the next event that finds work opens it.
        if let closedUntil = gate.closedUntil, closedUntil > moment.monotonicNanoseconds, !isClosing {
            due = min(due, closedUntil)
        }
        guard due < timerDue else { return }
        timerDue = due
        timer.start(after: .nanoseconds(max(0, due - moment.monotonicNanoseconds)))
    }
}
