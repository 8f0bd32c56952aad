import FanfareFanOut
import FanfareHTTP2
import FanfareLoop
import FanfareModel

/// One connection to APNs: the TCP and TLS connection that the dialer opened, HTTP/2, and the requests in flight on it.
///
/// A connection reports the end of each request exactly once to its pool, and its own end exactly once. It never blocks:
/// every operation has a deadline, and the pool calls `tick` no later than `nextDeadline`.
final class Connection: PooledConnection {
    private enum Phase: Equatable {
        /// Waits for the peer's first SETTINGS from one of the addresses.
        case dialing
        case open
        /// Takes no new requests; requests in flight continue.
        case draining
        /// Has sent GOAWAY and waits until this time for the peer to close.
        case leaving(until: MonotonicTime)
        case ended
    }

    /// Size of unsent output above which the connection takes no more requests, because the peer or the network is slower than we are.
    static let unsentSizeMax = ByteCount.kibibytes(512)

    /// Size of unsent output above which the connection ends, because the peer requests replies and does not read them. No more
    /// pushes are sent by then; a pull adds half a megabyte at most.
    static let unreadSizeMax = ByteCount.mebibytes(2)

    private unowned let pool: ConnectionPool
    private var phase = Phase.dialing
    private var link = Link.none

    private enum Link {
        case none
        case dialing(Dialer)
        case connected(TLSStream)
    }

    private var dialer: Dialer? { if case .dialing(let dialer) = link { dialer } else { nil } }
    private var stream: TLSStream? { if case .connected(let stream) = link { stream } else { nil } }

    // Calls into these never re-enter this object, so run-time exclusivity checks, several per push, could never fail.
    @safe @exclusivity(unchecked) private var session: ClientSession
    @safe @exclusivity(unchecked) private var events = EventBatch()
    @safe @exclusivity(unchecked) private var requests = RequestTable()

    /// `true` while the session writes in its pool's memory, until the output is flushed.
    private var writesInPoolMemory = false

    @safe @exclusivity(unchecked) private var silence: Silence
    @safe @exclusivity(unchecked) private var deadline: AnswerDeadline

    @safe @exclusivity(unchecked) var isCandidate = false
    /// Number of this connection, unique for the life of its pool.
    let serial: UInt64
    @safe @exclusivity(unchecked) var record = AnswerRecord()
    var times: AnswerTimes
    private var allowance = StreamAllowance()
    /// Returns `true` if requests are in flight or pushes were processed in the last ten seconds.
    func isBusy(at now: MonotonicTime) -> Bool { inFlight > 0 || now - record.lastSuccess < .seconds(10) }
    var lastReceived: MonotonicTime { silence.lastReceived }
    /// `nil` before the connection opened.
    private(set) var opening: ConnectionOpening?

    init(pool: ConnectionPool, serial: UInt64) {
        self.pool = pool
        self.serial = serial
        let configuration = pool.configuration
        silence = Silence(
            busy: configuration.pingAfter, idle: configuration.idlePingAfter, pong: configuration.pingTimeout)
        deadline = AnswerDeadline(usual: configuration.requestTimeout)
        times = AnswerTimes(pingInterval: configuration.idlePingAfter)
        // Placeholder, never written to: the dialer's session replaces it.
        session = ClientSession(configuration: ClientSession.Configuration())
    }

    // A dropped pool that was not closed must not be called back.
    deinit {
        dialer?.close()
        stream?.close()
    }

    /// - Parameter isSilent: `true` if the peer has answered no PING. A peer that sent nothing after its SETTINGS was never healthy.
    private func noteEnd(at now: MonotonicTime, isSilent: Bool = false) {
        record.wasEndedAtRest =
            phase == .open && (silence.hasBeenBroken || !isSilent) && inFlight == 0 && !record.isInDoubt
            && session.allowsStreams
            && isEstablished(at: now)
    }

    private func isEstablished(at now: MonotonicTime) -> Bool {
        opening.map { now.nanoseconds(since: $0.at) >= silence.mostWhileBusy } ?? false
    }

    /// Returns `true` if the connection has been open for longer than the longest wait for a connection: its end is
    /// unrelated to earlier ends, whatever it carried.
    func hasLasted(at now: MonotonicTime) -> Bool {
        opening.map { now - $0.at >= Replacements.waitMax } ?? false
    }

    var inFlight: Int { requests.count }
    var isOpen: Bool { phase == .open }
    var isDialing: Bool { phase == .dialing }

    // MARK: Opening

    func open(at now: MonotonicTime) {
        let dialer = Dialer(pool: pool)
        dialer.onOpened = { [unowned self] in self.opened($0) }
        dialer.onFailed = { [unowned self] in self.endOnLoop($0) }
        link = .dialing(dialer)
        dialer.start(at: now)
    }

    private func opened(_ attempt: Dialer.Attempt) {
        let moment = pool.now()
        phase = .open
        opening = ConnectionOpening(at: moment.monotonic, address: attempt.address)
        silence.opened(at: moment.monotonic)
        swap(&session, &attempt.session)
        let stream = attempt.stream
        stream.onReady = nil
        unsafe stream.onRead = { [unowned self] in unsafe self.received($0) }
        stream.onClose = { [unowned self] in self.streamClosed($0) }
        stream.onDrain = { [unowned self] in self.pool.drained(self) }
        link = .connected(stream)
        pool.opened(self)
        // The PING measures the peer's round trip before the connection is needed.
        if pool.choosesSize { askForSignOfLife(at: moment.monotonic) }
        noteStreams(at: moment)
        // A GOAWAY may have arrived directly after the SETTINGS.
        takeEvents(at: moment)
        pool.turn(at: moment)
        flush()
    }

    // MARK: Requests

    /// Returns the number of requests that the connection takes now. It takes none after a long silence, because the peer or a router may have
    /// forgotten the connection, and all that is sent would then be lost; it sends a PING instead and waits for a round trip.
    ///
    /// - Parameter bodySize: usual size of a body, by which the connection's window is divided.
    func room(bodySize: ByteCount, at now: MonotonicTime) -> Int {
        guard phase == .open else { return 0 }
        let inWindow = session.freeWindow / max(1, bodySize.bytes)
        // An idle connection always takes one request, because a peer may open its window only once it is used up.
        let room = min(session.freeStreams, inFlight == 0 ? max(1, inWindow) : inWindow)
        guard room > 0, room >= pullMin(room: room, inWindow: inWindow) else { return 0 }
        guard let stream, stream.writeQueueBytes + session.outputCount < Connection.unsentSizeMax.bytes else {
            return 0
        }
        guard !silence.isLong(at: now) else {
            if !silence.isAsking { pool.awaitSigns(at: now) }
            askForSignOfLife(at: now)
            return 0
        }
        return room
    }

    /// `true` from the request for a sign of life to the first byte of any answer.
    var awaitsSignOfLife: Bool { phase == .open && silence.isAsking }

    /// Returns the minimum number of requests for which a pull is made. Each pull costs its own records, writes and reads, however
    /// small it is, so a full connection waits until a sixteenth of its capacity is free. A wide connection waits only until a few
    /// are free: a peer may return its window long before it answers, and the requests in flight then say little about the capacity.
    private func pullMin(room: Int, inWindow: Int) -> Int {
        let most = inWindow < session.freeStreams ? Connection.pullMinInWindow : Connection.pullMinInStreams
        return min(most, (inFlight + room) / Connection.pullsPerRoundTrip)
    }

    private static let pullsPerRoundTrip = 16
    private static let pullMinInStreams = 16
    /// Minimum where the window is the limit: any window has room for this many bodies, however large they are.
    private static let pullMinInWindow = 4

    /// `true` while the connection has not carried enough for the peer's full width, and still widens with each answer.
    var isWidening: Bool { session.streamLimit < streamLimitMost }

    private var streamLimitMost: Int { min(session.configuration.streamsMax, pool.connections.lifespan.streamsMost) }

    /// Returns the number of requests that may be in flight on the fully widened connection, as far as the peer has announced it.
    private func width(bodySize: ByteCount, at now: MonotonicTime) -> Int {
        let inWindow = (session.freeWindow + inFlight * bodySize.bytes) / max(1, bodySize.bytes)
        return max(1, min(streamsAllowed(at: now), inWindow))
    }

    /// Returns the number of concurrent requests that the peer normally allows; before it is known, as many as this side makes.
    private func streamsAllowed(at now: MonotonicTime) -> Int {
        allowance.normal(at: now) ?? session.configuration.streamsMax
    }

    /// Returns what the connection has measured; `nil` before it knows the distance.
    func path(bodySize: ByteCount, at now: MonotonicTime) -> PoolSize.Path? {
        times.roundTrip.least.map {
            PoolSize.Path(
                roundTrip: $0, width: width(bodySize: bodySize, at: now), streams: streamsAllowed(at: now),
                requestSize: bodySize + RequestSize.besideBody)
        }
    }

    /// Returns `true` while the peer allows fewer requests than it did a moment ago: it wants us to be slower.
    func isReduced(at now: MonotonicTime) -> Bool { allowance.isReduced(at: now) }

    /// Sends deliveries.
    ///
    /// - Parameter run: deliveries of the batch that carry one payload.
    /// - Returns: the number of deliveries sent, from the first one on.
    func send(
        _ run: Range<Int>, of batch: DeliveryBatch, as form: RequestFields.Form, at now: MonotonicTime
    ) -> Int {
        guard phase == .open else { return 0 }
        borrowMemory()
        if requests.count == 0 {
            deadline.begin(at: now)
            silence.becameBusy(at: now)
            times.noteRest()
        }
        let tokens = batch.tokens
        for index in run {
            guard session.freeStreams > 0 else { return index - run.lowerBound }
            let delivery = batch.deliveries[index]
            let tag = requests.insert(
                slot: delivery.slot, generation: delivery.generation, tokenSerial: form.authorization.serial, at: now)
            times.noteSent()
            session.request(
                shape: form.shape, token: tokens.span.extracting(delivery.token),
                authorization: form.authorization.field,
                fields: form.fields, body: form.body, tag: tag)
        }
        return run.count
    }

    /// Hands the session's output to TLS; it leaves at the end of the loop's turn.
    func flush() {
        guard let stream, session.outputCount > 0 else { return }
        unsafe session.withOutput { unsafe stream.write($0) }
        session.take(session.outputCount)
        // No output waits in the borrowed memory now.
        if writesInPoolMemory { exchangeMemory() }
    }

    /// Lends the session the pool's memory: requests of all connections are written in one memory, which stays in the processor's cache.
    private func borrowMemory() {
        if !writesInPoolMemory, session.outputCount == 0 { exchangeMemory() }
    }

    private func exchangeMemory() {
        session.exchangeMemory(with: &pool.exchange.requestMemory)
        writesInPoolMemory.toggle()
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        let moment = pool.now()
        silence.received(at: moment.monotonic)
        unsafe session.receive(bytes)
        takeEvents(at: moment)
        pool.turn(at: moment)
        flush()
        if let stream, stream.writeQueueBytes > Connection.unreadSizeMax.bytes {
            end(.lost("\(pool.configuration.endpoint): the server does not read"), at: moment)
            pool.turn(at: moment)
        }
    }

    private func takeEvents(at moment: Moment) {
        defer { pool.connections.mayHaveRoom(self) }
        session.takeEvents(into: &events)
        guard !events.events.isEmpty else { return }
        let batch = events
        // Held once for all events, because each use of an unowned reference costs two atomic operations.
        let pool = self.pool
        let answersBefore = record.answers
        var soonest = Int64.max
        var failure: String?
        for event in batch.events {
            switch event {
            case .response(let response):
                let request = requests.remove(response.tag)
                soonest = min(soonest, moment.monotonic.nanoseconds(since: request.sentAt))
                if response.status == 200 {
                    noteAccepted(request, in: pool, at: moment)
                    didSucceed(in: pool)
                    record.finalAnswers.note(isFinal: false)
                    pool.accepted(request, at: moment)
                } else {
                    let body = ErrorBody(Array(batch[response.body]))
                    pool.refused(request, status: response.status, body: body, on: self, at: moment)
                }
            case .notProcessed(let tag):
                let request = requests.remove(tag)
                // `.notProcessed` comes to an open connection by RST_STREAM only; a GOAWAY drains it before it returns requests.
                if phase == .open {
                    pool.reset(request, .refusedStream, on: self, at: moment)
                } else {
                    pool.notProcessed(request)
                }
            case .lost(let tag, let code):
                let request = requests.remove(tag)
                if phase == .open, let code {
                    pool.reset(request, code, on: self, at: moment)
                } else {
                    pool.lost(request)
                }
            case .goAway(_, let code, let debug):
                let reason = ErrorBody(Array(batch[debug])).reason ?? (code == .noError ? nil : "\(code)")
                if reason == nil { noteEnd(at: moment.monotonic) }
                pool.connectionReceivedGoAway(self, code, reason: reason, at: moment)
            case .exhausted: pool.replace(self, at: moment)
            case .pong: notePong(at: moment.monotonic)
            case .settingsChanged: noteStreams(at: moment)
            case .failed(_, let text): failure = batch.text(text)
            }
        }
        if record.answers != answersBefore { record.noteSuccesses(at: moment.monotonic) }
        if soonest < .max { times.noteAnswers(after: soonest, at: moment.monotonic) }
        if let failure {
            let text = "\(pool.configuration.endpoint): the server broke HTTP/2: \(failure)"
            breakOff(.lost(text), at: moment)
        } else if phase == .draining, inFlight == 0 {
            leave(at: moment.monotonic)
        }
    }

    /// Records the time of an accepted push. While all connections are full, the peer may have a queue, in which a new connection's first push
    /// waits, too.
    private func noteAccepted(_ request: SentRequest, in pool: ConnectionPool, at moment: Moment) {
        guard pool.sizing.hadRoom else { return }
        let now = moment.monotonic
        times.noteAccepted(after: now.nanoseconds(since: request.sentAt), at: now)
    }

    /// Records an answer, which shows that APNs knows our JWT and that answers arrive. A connection starts with one request, as APNs
    /// requires with token authentication (spec §10). The first answer makes it as wide as TCP's window is by then, and each further
    /// answer widens it by one: so both double with each round trip, and a connection that breaks at once leaves few outcomes unknown.
    func didSucceed(in pool: ConnectionPool) {
        let most = min(session.configuration.streamsMax, pool.connections.lifespan.streamsMost)
        if session.streamLimit < most {
            session.streamLimit = record.hasSucceeded ? session.streamLimit + 1 : min(most, pool.exchange.widthAtFirst)
        }
        pool.connections.lifespan.answered()
        if record.noteSuccess() { pool.connections.trust(self) }
        if record.hasJustSucceeded { pool.connectionDidSucceed(self) }
    }

    /// Records a request whose outcome is unknown; its alert, if any, is not sent again. A connection in doubt therefore
    /// risks one outcome at a time, however wide it was.
    func lost(_ request: SentRequest, _ evidence: FailureEvidence, isOverdue: Bool) {
        if isOverdue { record.noteOverdue(sentAt: request.sentAt, evidence) }
        guard record.isInDoubt, session.streamLimit > 1 else { return }
        session.streamLimit = 1
        // Requests that are still in flight are as good as lost.
        pool.connections.lifespan.cutOff(after: record.answers)
    }

    /// Records a refusal that affects all pushes alike or is this connection's fault. A connection in doubt gets one request
    /// at a time until the cause is known.
    func refused(_ evidence: FailureEvidence) {
        record.noteError(evidence)
        if record.isInDoubt { session.streamLimit = 1 }
    }

    private func noteStreams(at moment: Moment) {
        if session.settingsReceived { allowance.note(session.streamsAllowed, at: moment.monotonic) }
        allowance.note(
            allowsAny: session.allowsStreams, patience: pool.configuration.noStreamsTimeout, at: moment.monotonic)
    }

    // MARK: Time

    var nextDeadline: MonotonicTime {
        switch phase {
        case .dialing: dialer?.nextDeadline ?? .never
        case .leaving(let until): until
        case .open: min(deadline.next, silenceEnds, allowance.noneEnds)
        case .draining: min(deadline.next, silenceEnds)
        case .ended: .never
        }
    }

    private var silenceEnds: MonotonicTime { silence.ends(isBusy: inFlight > 0) }

    func tick(at moment: Moment) {
        let now = moment.monotonic
        guard now >= nextDeadline else { return }
        switch phase {
        case .dialing: dialer?.tick(at: now)
        case .open, .draining:
            if phase == .open, now >= allowance.noneEnds { return pool.connectionAllowsNothing(self, at: moment) }
            if now >= silenceEnds { return endSilence(at: moment) }
            let overdue = now.advanced(byNanoseconds: -deadline.patience(times.pace, at: now))
            for tag in requests.sent(until: overdue) { session.cancel(tag: tag) }
            takeEvents(at: moment)
            flush()
            deadline.renew(oldest: requests.oldest, times.pace, at: now)
        case .leaving: end(.drained, at: moment)
        case .ended: break
        }
    }

    private func endSilence(at moment: Moment) {
        guard !silence.isAsking else {
            noteEnd(at: moment.monotonic, isSilent: true)
            if inFlight > 0 { pool.doubtAddress(of: self, at: moment.monotonic) }
            return end(.lost("\(pool.configuration.endpoint): the server went silent"), at: moment)
        }
        askForSignOfLife(at: moment.monotonic)
    }

    func askForSignOfLife(at now: MonotonicTime) {
        guard silence.ask(at: now) else { return }
        let isClear = isClear
        if session.ping() { times.notePing(isClear: isClear, at: now) }
        flush()
    }

    /// `true` while a PING would wait behind no queue of pushes: in the peer, on the way, or here.
    private var isClear: Bool {
        inFlight == 0
            || inFlight <= pool.exchange.widthAtFirst && stream?.writeQueueBytes == 0 && session.outputCount == 0
    }

    /// Sends a PING if the last one was long ago: a connection that is never silent would not measure the distance otherwise.
    func renewDistance(at now: MonotonicTime) {
        guard phase == .open, isClear,
            times.lastPing.map({ now.nanoseconds(since: $0) >= silence.mostWhileIdle }) ?? true
        else {
            return
        }
        askForSignOfLife(at: now)
    }

    private func notePong(at now: MonotonicTime) {
        guard times.notePong(isUndelayed: pool.sizing.measuresDistance, at: now) else { return }
        pool.sizing.reviewSoon()
        if phase == .open, session.allowsStreams, isEstablished(at: now) { pool.service.health.stays() }
    }

    // MARK: End

    /// Stops taking requests, and ends once those in flight have ended; a connection that is not open yet ends at once.
    func drain(at moment: Moment) {
        switch phase {
        case .dialing: end(.drained, at: moment)
        case .open:
            phase = .draining
            if inFlight == 0 { leave(at: moment.monotonic) }
        case .draining, .leaving, .ended: break
        }
    }

    private func leave(at now: MonotonicTime) {
        phase = .leaving(until: now + pool.configuration.lingerTimeout)
        session.goAway()
        flush()
        stream?.finish()
    }

    /// Ends the requests in flight and stops reading, after the peer broke the protocol. Closing TCP with unread bytes would
    /// discard the GOAWAY that gives the peer the reason, so the peer gets a moment to read it.
    private func breakOff(_ ending: ConnectionEnding, at moment: Moment) {
        flush()
        phase = .leaving(until: moment.monotonic + pool.configuration.lingerTimeout)
        stream?.finish()
        stream?.pauseReading()
        // Written bytes may still leave.
        endSession(unsent: 0, at: moment)
        pool.ended(self, ending, at: moment, lingers: true)
    }

    /// Ends at once; the outcomes of requests in flight are unknown.
    func abort(at moment: Moment) { end(.drained, at: moment) }

    private func streamClosed(_ error: LoopError?) {
        if error.map({ $0.kind == .connectionLost }) ?? true { noteEnd(at: pool.now().monotonic) }
        let text = error.map { "\($0)" } ?? "\(pool.configuration.endpoint): closed by the server"
        switch phase {
        case .dialing, .ended: break
        case .open, .draining: endOnLoop(inFlight == 0 && phase == .draining ? .drained : .lost(text))
        case .leaving: endOnLoop(.drained)
        }
    }

    /// Ends from a callback of the loop, after which the pool needs a turn of its own.
    private func endOnLoop(_ ending: ConnectionEnding) {
        let moment = pool.now()
        end(ending, at: moment)
        pool.turn(at: moment)
    }

    private func end(_ ending: ConnectionEnding, at moment: Moment) {
        guard phase != .ended else { return }
        phase = .ended
        dialer?.close()
        stream?.close()
        endSession(unsent: stream?.plainBytesUnsent ?? 0, at: moment)
        link = .none
        pool.ended(self, ending, at: moment)
    }

    private func endSession(unsent: Int, at moment: Moment) {
        if inFlight > 0, !pool.isClosing { pool.connections.lifespan.cutOff(after: record.answers) }
        session.connectionLost(unsent: unsent)
        takeEvents(at: moment)
    }
}
