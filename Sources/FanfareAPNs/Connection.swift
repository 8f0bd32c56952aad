import FanfareCore
import FanfareHTTP2
import FanfareLoop

/// One connection to APNs: a fresh look-up of the name, TCP, TLS, HTTP/2, and the requests in flight on it.
///
/// It tells its pool of each request's end exactly once, and of its own end exactly once. Nothing here waits for anything:
/// what takes time has a deadline, and `tick` is called no later than `nextDeadline`.
final class Connection {
    enum Ending {
        /// It never got as far as HTTP/2.
        case notOpened(String)
        /// It was open and broke, or went silent.
        case lost(String)
        /// It had been told, or had decided, to take no more requests, and has no more in flight.
        case drained
    }

    private enum Phase {
        case resolving
        /// TCP, TLS and the peer's first SETTINGS, to one address after the other.
        case connecting
        case open
        /// No new requests; those in flight go on.
        case draining
        /// Said goodbye; waits for the peer to close.
        case leaving
        case ended
    }

    /// A connection without requests is pinged after so much silence; an hour is fine with Apple (spec §10).
    static let idlePingAfter = Duration.seconds(3600)
    static let farewellTimeout = Duration.seconds(1)
    /// Unsent bytes above which the peer, or the network, is slower than we are: no more until they have left.
    static let unsentBytesMax = 512 * 1024

    /// Requests reset without an answer between them, after which another connection may do better.
    static let resetsInARowMax = 8

    private unowned let pool: ConnectionPool
    private var phase = Phase.resolving
    private var lookup: Resolver.Lookup?
    private var addresses: [SocketAddress] = []
    private var stream: TLSStream?
    // No call into these comes back here while it works: checking each access at run time, several for each push, could never
    // fail.
    @exclusivity(unchecked) private var session: ClientSession
    @exclusivity(unchecked) private var events = EventBatch()
    @exclusivity(unchecked) private var requests = RequestTable()

    /// Monotonic nanoseconds, as all times here. Of the phase that cannot last: looking up, connecting, leaving.
    private var phaseEnds = Int64.max
    private var lastHeard: Int64 = 0
    private var pingedAt: Int64?
    /// When the oldest request may be too old. Early when that one has been answered since; then the sweep finds nothing.
    private var requestsDue = Int64.max

    /// Since the last answer.
    private var resetsInARow = 0
    /// A push with our JWT has been processed.
    private(set) var isProved = false
    /// Pushes that were processed.
    private(set) var answers = 0
    /// A connection that was lost after so many is replaced at once: one that breaks again and again then costs a handshake
    /// for a hundred pushes at most, and throughput falls by no more than that.
    private static let worthwhileAnswers = 100
    var wasWorthwhile: Bool { answers >= Connection.worthwhileAnswers }

    init(pool: ConnectionPool) {
        self.pool = pool
        session = ClientSession(configuration: ClientSession.Configuration())
        session.streamLimit = 1
    }

    // A pool that is dropped without being closed must not be called back.
    deinit {
        lookup?.cancel()
        stream?.close()
    }

    var inFlight: Int { requests.count }
    var isOpen: Bool { phase == .open }

    // MARK: Opening

    func open(at now: Int64) {
        let endpoint = pool.configuration.endpoint
        phaseEnds = now + pool.configuration.connectTimeout.nanoseconds
        do throws(LoopError) {
            // APNs spreads load by DNS, so each connection looks up afresh.
            lookup = try Resolver.resolve(loop: pool.loop, host: endpoint.host, port: endpoint.port) {
                [unowned self] in self.resolved($0)
            }
        } catch {
            end(.notOpened("\(error)"))
        }
    }

    private func resolved(_ result: Result<[SocketAddress], LoopError>) {
        lookup = nil
        switch result {
        case .failure(let error): endOnLoop(.notOpened("\(error)"))
        case .success(let found):
            addresses = pool.shuffled(found)
            phase = .connecting
            tryNextAddress(at: pool.now().monotonicNanoseconds)
        }
    }

    private func tryNextAddress(at now: Int64) {
        guard let address = addresses.popLast() else { return }
        phaseEnds = now + pool.configuration.connectTimeout.nanoseconds
        do throws(LoopError) {
            let stream = try stream(to: address)
            stream.onReady = { [unowned self] in self.secured(alpn: $0) }
            stream.onRead = { [unowned self] in self.received($0) }
            stream.onClose = { [unowned self] in self.streamClosed($0) }
            stream.onDrain = { [unowned self] in self.pool.connectionHasRoom() }
            self.stream = stream
        } catch {
            endOnLoop(.notOpened("\(error)"))
        }
    }

    private func stream(to address: SocketAddress) throws(LoopError) -> TLSStream {
        let endpoint = pool.configuration.endpoint
        let tcp = try TCPStream(loop: pool.loop)
        tcp.connect(to: address, name: endpoint.host)
        do {
            return try TLSStream(over: tcp, context: pool.context, host: endpoint.serverName ?? endpoint.host)
        } catch {
            tcp.close()
            throw error
        }
    }

    private func secured(alpn: String?) {
        guard alpn == "h2" else {
            return endOnLoop(.notOpened("\(pool.configuration.endpoint): the server does not offer HTTP/2 (ALPN h2)"))
        }
        flush()
    }

    // MARK: Requests

    /// How many more requests it takes now.
    /// - Parameter bodyBytes: the usual size of a body, by which the connection's window is divided.
    func room(bodyBytes: Int) -> Int {
        guard phase == .open, let stream, stream.writeQueueBytes + session.outputCount < Connection.unsentBytesMax
        else { return 0 }
        let inWindow = session.freeWindow / max(1, bodyBytes)
        // An idle connection always takes one: a peer may open its window no sooner than it is used up.
        return min(session.freeStreams, inFlight == 0 ? max(1, inWindow) : inWindow)
    }

    /// - Parameter run: deliveries of the batch that carry one payload.
    /// - Returns: how many of them it took, from the first one on.
    func send(
        _ run: Range<Int>, of batch: DeliveryBatch, as form: RequestFields.Form, at now: Int64
    ) -> Int {
        guard phase == .open else { return 0 }
        if requests.count == 0 {
            requestsDue = now + pool.configuration.requestTimeout.nanoseconds
            // Silence begins to mean something now.
            lastHeard = max(lastHeard, now)
        }
        let tokens = batch.tokens
        for index in run {
            guard session.freeStreams > 0 else { return index - run.lowerBound }
            let delivery = batch.deliveries[index]
            let tag = requests.insert(
                slot: delivery.slot, generation: delivery.generation, tokenSerial: form.authorization.serial, at: now)
            session.request(
                shape: form.shape, token: tokens.span.extracting(delivery.token),
                authorization: form.authorization.field,
                fields: form.fields, body: form.body, tag: tag)
        }
        return run.count
    }

    /// Hands whole records to TLS as they fill, while what was written is still in the processor's cache: a turn may bring more
    /// requests than that holds.
    func flushRecords() {
        let records = session.outputCount / TLSStream.recordBytesMax
        guard let stream, records > 0 else { return }
        let count = records * TLSStream.recordBytesMax
        session.withOutput { stream.write(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        session.take(count)
    }

    /// Hands what has been written to TLS; it leaves at the end of the loop's turn.
    func flush() {
        guard let stream, session.outputCount > 0 else { return }
        session.withOutput { stream.write($0) }
        session.take(session.outputCount)
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        let moment = pool.now()
        lastHeard = moment.monotonicNanoseconds
        session.receive(bytes)
        takeEvents(at: moment)
        pool.turn(at: moment)
        flush()
    }

    private func takeEvents(at moment: Moment) {
        session.takeEvents(into: &events)
        guard !events.events.isEmpty else { return }
        // Before the events are looked at: a GOAWAY may come right behind the SETTINGS.
        if phase == .connecting, session.settingsReceived {
            phase = .open
            phaseEnds = .max
            pool.opened(self)
        }
        let batch = events
        let pool = self.pool
        var failure: String?
        for event in batch.events {
            switch event {
            case .response(let response):
                resetsInARow = 0
                let request = requests.remove(response.tag)
                if response.status == 200 {
                    proved()
                    pool.accepted(request)
                } else {
                    let body = ErrorBody(Array(batch[response.body]))
                    pool.refused(request, status: response.status, body: body, on: self, at: moment)
                }
            case .notProcessed(let tag):
                pool.notProcessed(requests.remove(tag))
                // While open only RST_STREAM says so; a GOAWAY has made us drain before it gives requests back.
                if phase == .open { wasReset(.refusedStream, at: moment) }
            case .lost(let tag, let code):
                pool.lost(requests.remove(tag))
                // Our own timeouts are slow enough by themselves.
                if phase == .open, let code, code != .cancel { wasReset(code, at: moment) }
            case .goAway(_, let code, let debug):
                let reason = ErrorBody(Array(batch[debug])).reason ?? (code == .noError ? nil : "\(code)")
                pool.connectionWasToldToGo(self, reason: reason, at: moment)
            case .exhausted: pool.replace(self, at: moment)
            case .pong: pingedAt = nil
            case .settingsChanged: break
            case .failed(_, let text): failure = batch.text(text)
            }
        }
        if let failure {
            let text = "\(pool.configuration.endpoint): the server broke HTTP/2: \(failure)"
            breakOff(phase == .connecting ? .notOpened(text) : .lost(text), at: moment)
        } else if phase == .draining, inFlight == 0 {
            leave(at: moment.monotonicNanoseconds)
        }
    }

    /// The answer shows that APNs knows who we are and that answers come through: one more request at a time from now on.
    /// So a connection starts with one, as APNs asks with token authentication (spec §10), and doubles with each round
    /// trip: one that breaks at once takes few outcomes with it.
    func proved() {
        if session.streamLimit < session.configuration.streamsMax { session.streamLimit += 1 }
        answers += 1
        guard !isProved else { return }
        isProved = true
        pool.proved(self)
    }

    private func wasReset(_ code: ErrorCode, at moment: Moment) {
        resetsInARow += 1
        pool.requestWasReset(code, at: moment)
        if resetsInARow >= Connection.resetsInARowMax { pool.connectionIsOfNoUse(self, code, at: moment) }
    }

    // MARK: Time

    var nextDeadline: Int64 {
        switch phase {
        case .resolving, .connecting, .leaving: phaseEnds
        case .open, .draining: min(requestsDue, silenceEnds)
        case .ended: .max
        }
    }

    private var silenceEnds: Int64 {
        // Whatever is heard is a sign of life, not the PING's answer alone.
        if let pingedAt { return max(pingedAt, lastHeard) + pool.configuration.pingTimeout.nanoseconds }
        return lastHeard + (inFlight > 0 ? pool.configuration.pingAfter : Connection.idlePingAfter).nanoseconds
    }

    func tick(at moment: Moment) {
        let now = moment.monotonicNanoseconds
        guard now >= nextDeadline else { return }
        switch phase {
        case .resolving:
            end(.notOpened("\(pool.configuration.endpoint): the name server does not answer"), at: moment)
        case .connecting:
            stream?.close()
            stream = nil
            if addresses.isEmpty {
                end(.notOpened("\(pool.configuration.endpoint): no answer while connecting"), at: moment)
            } else {
                tryNextAddress(at: now)
            }
        case .open, .draining:
            if now >= silenceEnds { return endSilence(at: moment) }
            for tag in requests.sent(until: now - pool.configuration.requestTimeout.nanoseconds) {
                session.cancel(tag: tag)
            }
            takeEvents(at: moment)
            flush()
            requestsDue = requests.oldest.map { $0 + pool.configuration.requestTimeout.nanoseconds } ?? .max
        case .leaving: end(.drained, at: moment)
        case .ended: break
        }
    }

    private func endSilence(at moment: Moment) {
        guard pingedAt == nil else {
            return end(.lost("\(pool.configuration.endpoint): the server went silent"), at: moment)
        }
        pingedAt = moment.monotonicNanoseconds
        session.ping()
        flush()
    }

    // MARK: End

    /// Takes no more requests; ends when those in flight have.
    func drain(at now: Int64) {
        guard phase == .open else { return }
        phase = .draining
        if inFlight == 0 { leave(at: now) }
    }

    /// The pool is closing: as `drain`, and what is not open yet never will be.
    func leaveWhenDone(at moment: Moment) {
        switch phase {
        case .resolving, .connecting: end(.drained, at: moment)
        case .open: drain(at: moment.monotonicNanoseconds)
        case .draining, .leaving, .ended: break
        }
    }

    private func leave(at now: Int64) {
        phase = .leaving
        phaseEnds = now + Connection.farewellTimeout.nanoseconds
        session.goAway()
        flush()
        stream?.finish()
    }

    /// The peer broke the protocol. Requests in flight end now, and nothing more is read; but to close TCP with bytes unread
    /// would take back the GOAWAY that tells the peer why, so it has a moment to read that.
    private func breakOff(_ ending: Ending, at moment: Moment) {
        flush()
        phase = .leaving
        phaseEnds = moment.monotonicNanoseconds + Connection.farewellTimeout.nanoseconds
        stream?.finish()
        stream?.pauseReading()
        session.connectionLost()
        takeEvents(at: moment)
        pool.ended(self, ending, at: moment, lingers: true)
    }

    /// Ends at once. Requests in flight are unknown.
    func abort(at moment: Moment) { end(.drained, at: moment) }

    private func streamClosed(_ error: LoopError?) {
        stream = nil
        let text = error.map { "\($0)" } ?? "\(pool.configuration.endpoint): closed by the server"
        switch phase {
        case .connecting where Connection.isAboutTheAddress(error) && !addresses.isEmpty:
            tryNextAddress(at: pool.now().monotonicNanoseconds)
        case .resolving, .connecting: endOnLoop(.notOpened(text))
        case .open, .draining: endOnLoop(inFlight == 0 && phase == .draining ? .drained : .lost(text))
        case .leaving: endOnLoop(.drained)
        case .ended: break
        }
    }

    /// Another address of the host may do better. A server that answered and was found wanting is what people should hear
    /// of, not of the address that was tried after it.
    private static func isAboutTheAddress(_ error: LoopError?) -> Bool {
        switch error?.kind {
        case .refused, .unreachable, .timedOut: true
        default: false
        }
    }

    /// From a callback of the loop: the pool has to act on it by itself.
    private func endOnLoop(_ ending: Ending) {
        let moment = pool.now()
        end(ending, at: moment)
        pool.turn(at: moment)
    }

    private func end(_ ending: Ending) { end(ending, at: pool.now()) }

    private func end(_ ending: Ending, at moment: Moment) {
        guard phase != .ended else { return }
        phase = .ended
        lookup?.cancel()
        lookup = nil
        stream?.close()
        stream = nil
        session.connectionLost()
        takeEvents(at: moment)
        pool.ended(self, ending, at: moment)
    }
}
