import FanfareFanOut
import FanfareHTTP2
import FanfareLoop
import FanfareModel

/// One connection to APNs: the TCP and TLS connection that the dialer opened, HTTP/2, and the requests in flight on it.
///
/// A connection reports the end of each request exactly once to its pool, and its own end exactly once. It never blocks:
/// every operation has a deadline, and the pool calls `tick` no later than `nextDeadline`.
final class Connection: Candidate {
    enum Ending {
        /// The connection never reached HTTP/2.
        case notOpened(String)
        /// The connection never reached HTTP/2, because this process may open no more files.
        case outOfFiles(String)
        /// The connection was open and broke or fell silent.
        case lost(String)
        /// The connection took no more requests, because the peer or the pool ended it, and has none in flight.
        case drained
    }

    private enum Phase {
        /// Waits for the peer's first SETTINGS from one of the addresses.
        case dialing
        case open
        /// Takes no new requests; requests in flight continue.
        case draining
        /// Has sent GOAWAY and waits for the peer to close.
        case leaving
        case ended
    }

    /// Unsent bytes above which the connection takes no more requests, because the peer or the network is slower than we are.
    static let unsentBytesMax = 512 * 1024

    /// Unsent bytes above which the connection ends, because the peer requests replies and does not read them. No more
    /// pushes are sent by then; a pull adds half a megabyte at most.
    static let unreadBytesMax = 2 * 1024 * 1024

    /// Errors without a good answer between them, after which another connection may do better.
    static let errorsInARowMax = 8

    private unowned let pool: ConnectionPool
    private var phase = Phase.dialing
    private var dialer: Dialer?
    private var stream: TLSStream?
    // Calls into these never re-enter this object, so run-time exclusivity checks, several per push, could never fail.
    @safe @exclusivity(unchecked) private var session: ClientSession
    @safe @exclusivity(unchecked) private var events = EventBatch()
    @safe @exclusivity(unchecked) private var requests = RequestTable()

    /// `true` while the session writes in its pool's memory, until the output is flushed.
    private var writesInPoolMemory = false

    /// Deadline of the goodbye.
    private var phaseEnds = MonotonicTime.never
    private(set) var lastHeard = MonotonicTime.always
    /// Start of the current period with requests in flight. Silence counts from then on.
    private var busySince = MonotonicTime.always
    /// Silence after which the peer may be gone. The four spans are nanoseconds, because each turn adds them to each connection's times.
    private let silenceMax: Int64
    private let pongMax: Int64
    private let idleMax: Int64
    private let answerMax: Int64
    /// Time at which a sign of life was last requested; `nil` once any bytes have arrived.
    private var pingedAt: MonotonicTime?
    /// Deadline of the oldest request; may be early after that request was answered, and the check then finds nothing.
    private var requestsDue = MonotonicTime.never

    /// Limit of an answer's time, as a multiple of the quickest answer's time.
    private static let queueFactor: Int64 = 4
    /// Limit of an answer's time, as a multiple of the request timeout, however slow the peer is, because the activity gets
    /// nothing newer meanwhile.
    private static let patienceFactor: Int64 = 3

    @safe @exclusivity(unchecked) var isCandidate = false
    /// Number of this connection, unique for the life of its pool.
    let serial: UInt64
    /// 5xx answers, resets and timeouts since the last good answer, except those that are evidence about their activity alone.
    private(set) var errorsInARow = 0
    var isInDoubt: Bool { errorsInARow >= Connection.errorsInARowMax }
    /// Deadline of a peer that allows no streams; `.never` while it allows some.
    private var noStreamsEnds = MonotonicTime.never
    private(set) var times: AnswerTimes
    private var allowance = StreamAllowance()
    /// Answer times of this connection, compared with the others'.
    var slowness = Slowness()
    var isSlow: Bool { slowness.isSlow }
    /// `true` once the peer has refused a JWT as too old and there was no other one.
    var hasSeenExpiredJWT = false
    /// `true` once a push with our JWT has been processed.
    private(set) var hasSucceeded = false
    /// Number of processed pushes.
    private(set) var answers = 0
    /// Answers of this connection, and how many of them were final for their activities.
    @safe @exclusivity(unchecked) var finalAnswers = FinalAnswers()
    /// Time of the last processed push.
    private var lastSuccess = MonotonicTime.always
    /// Answers after which a lost connection is replaced at once: a connection that breaks again and again then costs at
    /// most one handshake per hundred pushes, and throughput falls by no more than that.
    private static let trafficAnswersMin = 100
    /// Answers after which the slot's next wait is short again. One would not do: a server that takes one push from each
    /// connection and ends it would be dialled as fast as it answers, which APNs considers an attack (spec §10).
    private static let successAnswersMin = 16
    var carriedTraffic: Bool { answers >= Connection.trafficAnswersMin }
    /// Returns `true` if requests are in flight or pushes were processed in the last ten seconds.
    func isBusy(at now: MonotonicTime) -> Bool { inFlight > 0 || now - lastSuccess < .seconds(10) }
    var hasEarnedAnother: Bool { answers >= Replacements.earnedBy }
    private(set) var openedAt: MonotonicTime?
    /// Address of the peer, once the connection is open.
    private(set) var address: SocketAddress?

    init(pool: ConnectionPool, serial: UInt64) {
        self.pool = pool
        self.serial = serial
        silenceMax = pool.configuration.pingAfter.nanoseconds
        pongMax = pool.configuration.pingTimeout.nanoseconds
        idleMax = pool.configuration.idlePingAfter.nanoseconds
        answerMax = pool.configuration.requestTimeout.nanoseconds
        times = AnswerTimes(pingInterval: pool.configuration.idlePingAfter)
        // Placeholder, never written to: the dialer's session replaces it.
        session = ClientSession(configuration: ClientSession.Configuration())
    }

    // A dropped pool that was not closed must not be called back.
    deinit {
        dialer?.close()
        stream?.close()
    }

    /// `true` if the peer or the network ended this connection while it was healthy and idle, after it had been open for
    /// longer than a peer takes to refuse one.
    private(set) var wasEndedAtRest = false

    /// `true` once bytes have arrived since the connection opened.
    private var hasBeenHeard = false

    /// - Parameter isSilent: `true` if the peer has answered no PING. A peer that sent nothing after its SETTINGS was never healthy.
    private func noteEnd(at now: MonotonicTime, isSilent: Bool = false) {
        wasEndedAtRest =
            phase == .open && (hasBeenHeard || !isSilent) && inFlight == 0 && !isInDoubt && session.allowsStreams
            && isEstablished(at: now)
    }

    private func isEstablished(at now: MonotonicTime) -> Bool {
        openedAt.map { now.nanoseconds(since: $0) >= silenceMax } ?? false
    }

    /// Returns `true` if the connection has been open for longer than the longest wait for a connection: its end is
    /// unrelated to earlier ends, whatever it carried.
    func hasLasted(at now: MonotonicTime) -> Bool {
        openedAt.map { now - $0 >= ConnectionPool.slotWaitMax } ?? false
    }

    var inFlight: Int { requests.count }
    var isOpen: Bool { phase == .open }
    var isDialing: Bool { phase == .dialing }

    // MARK: Opening

    func open(at now: MonotonicTime) {
        let dialer = Dialer(pool: pool)
        dialer.onOpened = { [unowned self] in self.opened($0) }
        dialer.onFailed = { [unowned self] in self.endOnLoop($0) }
        self.dialer = dialer
        dialer.start(at: now)
    }

    private func opened(_ attempt: Dialer.Attempt) {
        let moment = pool.now()
        dialer = nil
        phase = .open
        openedAt = moment.monotonic
        address = attempt.address
        lastHeard = moment.monotonic
        swap(&session, &attempt.session)
        let stream = attempt.stream
        stream.onReady = nil
        unsafe stream.onRead = { [unowned self] in unsafe self.received($0) }
        stream.onClose = { [unowned self] in self.streamClosed($0) }
        stream.onDrain = { [unowned self] in self.pool.drained(self) }
        self.stream = stream
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

    /// Returns the number of requests that the connection takes now. It takes none after a long silence, because the peer or a router
    /// may have forgotten the connection, and with it all that would be sent; it sends a PING instead and waits for a round trip.
    /// - Parameter bodyBytes: usual size of a body, by which the connection's window is divided.
    func room(bodyBytes: Int, at now: MonotonicTime) -> Int {
        guard phase == .open else { return 0 }
        let inWindow = session.freeWindow / max(1, bodyBytes)
        // An idle connection always takes one request, because a peer may open its window only once it is used up.
        let room = min(session.freeStreams, inFlight == 0 ? max(1, inWindow) : inWindow)
        guard room > 0, room >= pullMin(room: room, inWindow: inWindow) else { return 0 }
        guard let stream, stream.writeQueueBytes + session.outputCount < Connection.unsentBytesMax else { return 0 }
        guard now.nanoseconds(since: lastHeard) < silenceMax else {
            if pingedAt == nil { pool.awaitSigns(at: now) }
            askForSignOfLife(at: now)
            return 0
        }
        return room
    }

    /// `true` from the question to the first byte of any answer.
    var awaitsSignOfLife: Bool { phase == .open && pingedAt != nil }

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

    private var streamLimitMost: Int { min(session.configuration.streamsMax, pool.lifespan.streamsMost) }

    /// Returns the number of requests that may be in flight on the fully widened connection, as far as the peer has announced it.
    func width(bodyBytes: Int, at now: MonotonicTime) -> Int {
        let inWindow = (session.freeWindow + inFlight * bodyBytes) / max(1, bodyBytes)
        return max(1, min(streamsAllowed(at: now), inWindow))
    }

    /// Returns the number of concurrent requests that the peer normally allows; before it is known, as many as this side makes.
    func streamsAllowed(at now: MonotonicTime) -> Int { allowance.normal(at: now) ?? session.configuration.streamsMax }

    /// Returns `true` while the peer allows fewer requests than it did a moment ago: it wants us to be slower.
    func isHeldBack(at now: MonotonicTime) -> Bool { allowance.isHeldBack(at: now) }

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
            requestsDue = now.advanced(byNanoseconds: answerMax)
            busySince = now
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
        session.exchangeMemory(with: &pool.requestMemory)
        writesInPoolMemory.toggle()
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        let moment = pool.now()
        lastHeard = moment.monotonic
        hasBeenHeard = true
        // Any received bytes are a sign of life, not the PING's answer alone.
        pingedAt = nil
        unsafe session.receive(bytes)
        takeEvents(at: moment)
        pool.turn(at: moment)
        flush()
        if let stream, stream.writeQueueBytes > Connection.unreadBytesMax {
            end(.lost("\(pool.configuration.endpoint): the server does not read"), at: moment)
            pool.turn(at: moment)
        }
    }

    private func takeEvents(at moment: Moment) {
        defer { pool.mayHaveRoom(self) }
        session.takeEvents(into: &events)
        guard !events.events.isEmpty else { return }
        let batch = events
        // Held once for all events, because each use of an unowned reference costs two atomic operations.
        let pool = self.pool
        let answersBefore = answers
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
                    finalAnswers.note(isFinal: false)
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
                pool.connectionWasToldToGo(self, code, reason: reason, at: moment)
            case .exhausted: pool.replace(self, at: moment)
            case .pong: notePong(at: moment.monotonic)
            case .settingsChanged: noteStreams(at: moment)
            case .failed(_, let text): failure = batch.text(text)
            }
        }
        if answers != answersBefore { lastSuccess = moment.monotonic }
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
    private func noteAccepted(_ request: RequestTable.Request, in pool: ConnectionPool, at moment: Moment) {
        guard pool.load.hadRoom else { return }
        let now = moment.monotonic
        times.noteAccepted(after: now.nanoseconds(since: request.sentAt), at: now)
    }

    /// Records an answer, which shows that APNs knows our JWT and that answers arrive. A connection starts with one request, as APNs
    /// requires with token authentication (spec §10). The first answer makes it as wide as TCP's window is by then, and each further
    /// answer widens it by one: so both double with each round trip, and a connection that breaks at once leaves few outcomes unknown.
    func didSucceed(in pool: ConnectionPool) {
        let most = min(session.configuration.streamsMax, pool.lifespan.streamsMost)
        if session.streamLimit < most {
            session.streamLimit = answers == 0 ? min(most, pool.widthAtFirst) : session.streamLimit + 1
        }
        pool.lifespan.answered()
        answers += 1
        hasSucceeded = true
        disbelievedInARow = 0
        if errorsInARow > 0 {
            if isInDoubt { pool.trust(self) }
            errorsInARow = 0
        }
        if answers == Connection.successAnswersMin { pool.connectionDidSucceed(self) }
    }

    /// Number of answers in a row that called a token dead or a request wrong, and that another connection must confirm. The
    /// connection may be right, so it is not replaced; but others are preferred, or the same connection would be asked again.
    private(set) var disbelievedInARow = 0

    func disbelieved() { disbelievedInARow += 1 }

    /// Counts a request that was answered 5xx, was reset, or timed out.
    func erred(_ evidence: Suspects.Evidence) { if evidence != .activity { errorsInARow += 1 } }

    /// Records a request whose outcome is unknown; its alert, if any, is not sent again. A connection in doubt therefore
    /// risks one outcome at a time, however wide it was. A timed-out request, with no push processed since it was sent, puts
    /// the connection in doubt at once: the peer may answer PINGs forever while the service behind it answers nothing.
    func lost(_ request: RequestTable.Request, _ evidence: Suspects.Evidence, isOverdue: Bool) {
        if isOverdue, evidence != .activity, lastSuccess < request.sentAt {
            errorsInARow = max(errorsInARow, Connection.errorsInARowMax)
        }
        guard isInDoubt, session.streamLimit > 1 else { return }
        session.streamLimit = 1
        // Requests that are still in flight are as good as lost.
        pool.lifespan.cutOff(after: answers)
    }

    /// Records a refusal that affects all pushes alike or is this connection's fault. A connection in doubt gets one request
    /// at a time until the cause is known.
    func refused(_ evidence: Suspects.Evidence) {
        erred(evidence)
        if isInDoubt { session.streamLimit = 1 }
    }

    private func noteStreams(at moment: Moment) {
        if session.settingsReceived { allowance.note(session.streamsAllowed, at: moment.monotonic) }
        guard !session.allowsStreams else { return noStreamsEnds = .never }
        guard noStreamsEnds == .never else { return }
        noStreamsEnds = moment.monotonic + pool.configuration.noStreamsTimeout
    }

    // MARK: Time

    var nextDeadline: MonotonicTime {
        switch phase {
        case .dialing: dialer?.nextDeadline ?? .never
        case .leaving: phaseEnds
        case .open: min(requestsDue, silenceEnds, noStreamsEnds)
        case .draining: min(requestsDue, silenceEnds)
        case .ended: .never
        }
    }

    private var silenceEnds: MonotonicTime {
        if let pingedAt { return pingedAt.advanced(byNanoseconds: pongMax) }
        return inFlight > 0
            ? max(lastHeard, busySince).advanced(byNanoseconds: silenceMax) : lastHeard.advanced(byNanoseconds: idleMax)
    }

    func tick(at moment: Moment) {
        let now = moment.monotonic
        guard now >= nextDeadline else { return }
        switch phase {
        case .dialing: dialer?.tick(at: now)
        case .open, .draining:
            if phase == .open, now >= noStreamsEnds { return pool.connectionAllowsNothing(self, at: moment) }
            if now >= silenceEnds { return endSilence(at: moment) }
            let overdue = now.advanced(byNanoseconds: -patience(at: now))
            for tag in requests.sent(until: overdue) { session.cancel(tag: tag) }
            takeEvents(at: moment)
            flush()
            let latest = queueEnds(at: now) ?? .never
            requestsDue = requests.oldest.map { min($0.advanced(byNanoseconds: patience(at: now)), latest) } ?? .never
        case .leaving: end(.drained, at: moment)
        case .ended: break
        }
    }

    /// Returns the time limit of an answer, in nanoseconds. It grows when even the quickest answers take a good part of the usual
    /// time: the peer then has a queue, and requests in the queue are not lost.
    private func patience(at now: MonotonicTime) -> Int64 {
        guard queueEnds(at: now) != nil, let least = times.pace.least else { return answerMax }
        return Connection.patience(usual: answerMax, least: least)
    }

    /// Returns the time limit at a peer with a queue, in nanoseconds.
    ///
    /// - Parameter least: time of the quickest answers.
    static func patience(usual: Int64, least: Int64) -> Int64 {
        max(usual, min(Connection.queueFactor * least, Connection.patienceFactor * usual))
    }

    /// Returns the time until which the last answer shows that others will come, or `nil`: a connection that falls silent has no queue.
    private func queueEnds(at now: MonotonicTime) -> MonotonicTime? {
        guard let notedAt = times.pace.notedAt, let least = times.pace.least,
            least > answerMax / Connection.queueFactor
        else { return nil }
        let end = notedAt.advanced(byNanoseconds: answerMax / 2)
        return now < end ? end : nil
    }

    private func endSilence(at moment: Moment) {
        guard pingedAt == nil else {
            noteEnd(at: moment.monotonic, isSilent: true)
            if inFlight > 0 { pool.doubtAddress(of: self, at: moment.monotonic) }
            return end(.lost("\(pool.configuration.endpoint): the server went silent"), at: moment)
        }
        askForSignOfLife(at: moment.monotonic)
    }

    func askForSignOfLife(at now: MonotonicTime) {
        guard pingedAt == nil else { return }
        pingedAt = now
        let isClear = isClear
        if session.ping() { times.notePing(isClear: isClear, at: now) }
        flush()
    }

    /// `true` while a PING would wait behind no queue of pushes: in the peer, on the way, or here.
    private var isClear: Bool {
        inFlight == 0 || inFlight <= pool.widthAtFirst && stream?.writeQueueBytes == 0 && session.outputCount == 0
    }

    /// Sends a PING if the last one was long ago: a connection that is never silent would not measure the distance otherwise.
    func renewDistance(at now: MonotonicTime) {
        guard phase == .open, isClear, times.lastPing.map({ now.nanoseconds(since: $0) >= idleMax }) ?? true else {
            return
        }
        askForSignOfLife(at: now)
    }

    private func notePong(at now: MonotonicTime) {
        guard times.notePong(isUndelayed: pool.load.hadRoom || pool.plannedPath == nil, at: now) else { return }
        pool.reviews.due = .always
        if phase == .open, session.allowsStreams, isEstablished(at: now) { pool.stays() }
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
        phase = .leaving
        phaseEnds = now + pool.configuration.lingerTimeout
        session.goAway()
        flush()
        stream?.finish()
    }

    /// Ends the requests in flight and stops reading, after the peer broke the protocol. Closing TCP with unread bytes would
    /// discard the GOAWAY that gives the peer the reason, so the peer gets a moment to read it.
    private func breakOff(_ ending: Ending, at moment: Moment) {
        flush()
        phase = .leaving
        phaseEnds = moment.monotonic + pool.configuration.lingerTimeout
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
    private func endOnLoop(_ ending: Ending) {
        let moment = pool.now()
        end(ending, at: moment)
        pool.turn(at: moment)
    }

    private func end(_ ending: Ending, at moment: Moment) {
        guard phase != .ended else { return }
        phase = .ended
        dialer?.close()
        dialer = nil
        stream?.close()
        endSession(unsent: stream?.plainBytesUnsent ?? 0, at: moment)
        stream = nil
        pool.ended(self, ending, at: moment)
    }

    private func endSession(unsent: Int, at moment: Moment) {
        if inFlight > 0, !pool.isClosing { pool.lifespan.cutOff(after: answers) }
        session.connectionLost(unsent: unsent)
        takeEvents(at: moment)
    }
}
