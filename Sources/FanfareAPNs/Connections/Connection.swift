import FanfareFanOut
import FanfareHTTP2
import FanfareLoop
import FanfareModel

/// One connection to APNs: the TCP and TLS connection that the dialer opened, HTTP/2, and the requests in flight on it.
///
/// A connection reports the end of each request exactly once to its owner, and its own end exactly once. It never blocks:
/// every operation has a deadline, and the owner calls `tick` no later than `nextDeadline`.
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

    private unowned let owner: any ConnectionOwner
    private let commons: ConnectionCommons
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

    /// `true` while the session writes in the common memory, until the output is flushed.
    private var writesInCommonMemory = false

    @safe @exclusivity(unchecked) private var patience: PeerPatience

    @safe @exclusivity(unchecked) var isCandidate = false
    /// Number of this connection, unique for the life of its pool.
    let serial: UInt64
    @safe @exclusivity(unchecked) var record = AnswerRecord()
    @safe @exclusivity(unchecked) var times: AnswerTimes
    /// Returns `true` if requests are in flight or pushes were processed in the last ten seconds.
    func isBusy(at now: MonotonicTime) -> Bool { inFlight > 0 || now - record.lastSuccess < .seconds(10) }
    var lastReceived: MonotonicTime { patience.silence.lastReceived }
    /// `nil` before the connection opened.
    private(set) var opening: ConnectionOpening?

    init(of owner: any ConnectionOwner, _ commons: ConnectionCommons, serial: UInt64) {
        self.owner = owner
        self.commons = commons
        self.serial = serial
        let configuration = commons.configuration
        patience = PeerPatience(
            silence: Silence(
                busy: configuration.pingAfter, idle: configuration.idlePingAfter, pong: configuration.pingTimeout),
            answers: AnswerDeadline(usual: configuration.requestTimeout))
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
            phase == .open && (patience.silence.hasBeenBroken || !isSilent) && inFlight == 0 && !record.isInDoubt
            && session.allowsStreams
            && isEstablished(at: now)
    }

    private func isEstablished(at now: MonotonicTime) -> Bool {
        opening.map { patience.silence.isLong(since: $0.at, at: now) } ?? false
    }

    /// Returns `true` if the connection has been open for longer than the longest wait for a connection: its end is
    /// unrelated to earlier ends, whatever it carried.
    func hasLasted(at now: MonotonicTime) -> Bool { opening.map { $0.hasLasted(at: now) } ?? false }

    var inFlight: Int { requests.count }
    var isOpen: Bool { phase == .open }
    var isDialing: Bool { phase == .dialing }

    // MARK: Opening

    func open(at now: MonotonicTime) {
        let dialer = Dialer(pool: owner)
        dialer.onOpened = { [unowned self] in self.opened($0) }
        dialer.onFailed = { [unowned self] in self.endOnLoop($0) }
        link = .dialing(dialer)
        dialer.start(at: now)
    }

    private func opened(_ attempt: Dialer.Attempt) {
        let moment = owner.now()
        phase = .open
        opening = ConnectionOpening(at: moment.monotonic, address: attempt.address)
        patience.silence.opened(at: moment.monotonic)
        swap(&session, &attempt.session)
        let stream = attempt.stream
        stream.onReady = nil
        unsafe stream.onRead = { [unowned self] in unsafe self.received($0) }
        stream.onClose = { [unowned self] in self.streamClosed($0) }
        stream.onDrain = { [unowned self] in self.owner.drained(self) }
        link = .connected(stream)
        owner.opened(self)
        // The PING measures the peer's round trip before the connection is needed.
        if commons.configuration.choosesSize { askForSignOfLife(at: moment.monotonic) }
        noteStreams(at: moment)
        // A GOAWAY may have arrived directly after the SETTINGS.
        takeEvents(at: moment)
        owner.turn(at: moment)
        flush()
    }

    // MARK: Requests

    /// Returns the number of requests that the connection takes now. It takes none after a long silence, because the peer or a router may have
    /// forgotten the connection, and all that is sent would then be lost; it sends a PING instead and waits for a round trip.
    ///
    /// - Parameter bodySize: usual size of a body, by which the connection's window is divided.
    func room(bodySize: ByteCount, at now: MonotonicTime) -> Int {
        guard phase == .open else { return 0 }
        let room = PullRoom.requests(
            streams: session.freeStreams, window: session.freeWindow, inFlight: inFlight, bodySize: bodySize)
        guard room > 0 else { return 0 }
        guard let stream, stream.writeQueueBytes + session.outputCount < Connection.unsentSizeMax.bytes else {
            return 0
        }
        guard !patience.silence.isLong(at: now) else {
            if !patience.silence.isAsking { owner.awaitSigns(at: now) }
            askForSignOfLife(at: now)
            return 0
        }
        return room
    }

    /// `true` from the request for a sign of life to the first byte of any answer.
    var awaitsSignOfLife: Bool { phase == .open && patience.silence.isAsking }

    /// `true` while the connection has not carried enough for the peer's full width, and still widens with each answer.
    var isWidening: Bool { session.streamLimit < streamLimitMost }

    private var streamLimitMost: Int { min(session.configuration.streamsMax, commons.lifespan.streamsMost) }

    /// Returns the number of requests that may be in flight on the fully widened connection, as far as the peer has announced it.
    private func width(bodySize: ByteCount, at now: MonotonicTime) -> Int {
        let inWindow = (session.freeWindow + inFlight * bodySize.bytes) / max(1, bodySize.bytes)
        return max(1, min(streamsAllowed(at: now), inWindow))
    }

    /// Returns the number of concurrent requests that the peer normally allows; before it is known, as many as this side makes.
    private func streamsAllowed(at now: MonotonicTime) -> Int {
        patience.allowance.normal(at: now) ?? session.configuration.streamsMax
    }

    /// Returns what the connection has measured; `nil` before it knows the distance.
    func path(bodySize: ByteCount, at now: MonotonicTime) -> ConnectionPath? {
        times.roundTrip.least.map {
            ConnectionPath(
                roundTrip: $0, width: width(bodySize: bodySize, at: now), streams: streamsAllowed(at: now),
                requestSize: bodySize + RequestSize.besideBody)
        }
    }

    /// Returns `true` while the peer allows fewer requests than it did a moment ago: it wants us to be slower.
    func isReduced(at now: MonotonicTime) -> Bool { patience.allowance.isReduced(at: now) }

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
            patience.becameBusy(at: now)
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
        if writesInCommonMemory { exchangeMemory() }
    }

    /// Lends the session the common memory: requests of all connections are written in one memory, which stays in the processor's cache.
    private func borrowMemory() {
        if !writesInCommonMemory, session.outputCount == 0 { exchangeMemory() }
    }

    private func exchangeMemory() {
        session.exchangeMemory(with: &commons.requestMemory)
        writesInCommonMemory.toggle()
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        let moment = owner.now()
        patience.silence.received(at: moment.monotonic)
        unsafe session.receive(bytes)
        takeEvents(at: moment)
        owner.turn(at: moment)
        flush()
        if let stream, stream.writeQueueBytes > Connection.unreadSizeMax.bytes {
            end(.lost("\(commons.configuration.endpoint): the server does not read"), at: moment)
            owner.turn(at: moment)
        }
    }

    private func takeEvents(at moment: Moment) {
        // Held once for all events, because each use of an unowned reference costs two atomic operations.
        let owner = self.owner
        defer { owner.mayHaveRoom(self) }
        session.takeEvents(into: &events)
        guard !events.events.isEmpty else { return }
        let batch = events
        let answersBefore = record.answers
        // Time at which the request was sent that was answered soonest.
        var newest = MonotonicTime.always
        var failure: String?
        for event in batch.events {
            switch event {
            case .response(let response):
                let request = requests.remove(response.tag)
                newest = max(newest, request.sentAt)
                if response.status == 200 {
                    noteAccepted(request, of: owner, at: moment.monotonic)
                    didSucceed()
                    record.finalAnswers.note(isFinal: false)
                    owner.accepted(request, at: moment)
                } else {
                    let body = ErrorBody(Array(batch[response.body]))
                    owner.refused(request, status: response.status, body: body, on: self, at: moment)
                }
            case .notProcessed(let tag):
                let request = requests.remove(tag)
                // `.notProcessed` comes to an open connection by RST_STREAM only; a GOAWAY drains it before it returns requests.
                if phase == .open {
                    owner.reset(request, .refusedStream, on: self, at: moment)
                } else {
                    owner.notProcessed(request)
                }
            case .lost(let tag, let code):
                let request = requests.remove(tag)
                if phase == .open, let code {
                    owner.reset(request, code, on: self, at: moment)
                } else {
                    owner.lost(request)
                }
            case .goAway(_, let code, let debug):
                let reason = ErrorBody(Array(batch[debug])).reason ?? (code == .noError ? nil : "\(code)")
                if reason == nil { noteEnd(at: moment.monotonic) }
                owner.receivedGoAway(self, code, reason: reason, at: moment)
            case .exhausted: owner.exhausted(self, at: moment)
            case .pong: notePong(at: moment.monotonic)
            case .settingsChanged: noteStreams(at: moment)
            case .failed(_, let text): failure = batch.text(text)
            }
        }
        if record.answers != answersBefore { record.noteSuccesses(at: moment.monotonic) }
        if newest > .always { times.noteAnswers(after: moment.monotonic - newest, at: moment.monotonic) }
        if let failure {
            let text = "\(commons.configuration.endpoint): the server broke HTTP/2: \(failure)"
            breakOff(.lost(text), at: moment)
        } else if phase == .draining, inFlight == 0 {
            leave(at: moment.monotonic)
        }
    }

    /// Records the time of an accepted push. While all connections are full, the peer may have a queue, in which a new connection's first push
    /// waits, too.
    private func noteAccepted(_ request: SentRequest, of owner: any ConnectionOwner, at now: MonotonicTime) {
        if times.wasSentAlone, owner.hadRoom { times.noteAccepted(after: now - request.sentAt, at: now) }
    }

    /// Records an answer, which shows that APNs knows our JWT and that answers arrive. A connection starts with one request, as APNs
    /// requires with token authentication (spec §10). The first answer makes it as wide as TCP's window is by then, and each further
    /// answer widens it by one: so both double with each round trip, and a connection that breaks at once leaves few outcomes uncertain.
    func didSucceed() {
        let most = streamLimitMost
        if session.streamLimit < most {
            session.streamLimit = record.hasSucceeded ? session.streamLimit + 1 : min(most, owner.widthAtFirst)
        }
        commons.lifespan.answered()
        if record.noteSuccess() { owner.regainedTrust(self) }
        if record.hasJustSucceeded { owner.succeeded(self) }
    }

    /// Records a request whose outcome is uncertain; its alert, if any, is not sent again. A connection in doubt therefore
    /// risks one outcome at a time, however wide it was.
    func lost(_ request: SentRequest, _ evidence: FailureEvidence, isOverdue: Bool) {
        if isOverdue { record.noteOverdue(sentAt: request.sentAt, evidence) }
        guard record.isInDoubt, session.streamLimit > 1 else { return }
        session.streamLimit = 1
        // Requests that are still in flight are as good as lost.
        commons.lifespan.cutOff(after: record.answers)
    }

    /// Records a refusal that affects all pushes alike or is this connection's fault. A connection in doubt gets one request
    /// at a time until the cause is known.
    func refused(_ evidence: FailureEvidence) {
        record.noteError(evidence)
        if record.isInDoubt { session.streamLimit = 1 }
    }

    private func noteStreams(at moment: Moment) {
        if session.settingsReceived { patience.allowance.note(session.streamsAllowed, at: moment.monotonic) }
        patience.allowance.note(
            allowsAny: session.allowsStreams, patience: commons.configuration.noStreamsTimeout, at: moment.monotonic)
    }

    // MARK: Time

    var nextDeadline: MonotonicTime {
        switch phase {
        case .dialing: dialer?.nextDeadline ?? .never
        case .leaving(let until): until
        case .open, .draining: patience.ends(takesRequests: phase == .open, isBusy: inFlight > 0)
        case .ended: .never
        }
    }

    func tick(at moment: Moment) {
        let now = moment.monotonic
        guard now >= nextDeadline else { return }
        switch phase {
        case .dialing: dialer?.tick(at: now)
        case .open, .draining:
            if phase == .open, now >= patience.allowance.noneEnds { return owner.allowsNothing(self, at: moment) }
            if now >= patience.silence.ends(isBusy: inFlight > 0) { return endSilence(at: moment) }
            let overdue = now - patience.answers.patience(times.response, at: now)
            for tag in requests.sent(until: overdue) { session.cancel(tag: tag) }
            takeEvents(at: moment)
            flush()
            patience.answers.renew(oldest: requests.oldest, times.response, at: now)
        case .leaving: end(.drained, at: moment)
        case .ended: break
        }
    }

    private func endSilence(at moment: Moment) {
        guard !patience.silence.isAsking else {
            noteEnd(at: moment.monotonic, isSilent: true)
            if inFlight > 0 { owner.fellSilent(self, at: moment.monotonic) }
            return end(.lost("\(commons.configuration.endpoint): the server went silent"), at: moment)
        }
        askForSignOfLife(at: moment.monotonic)
    }

    func askForSignOfLife(at now: MonotonicTime) {
        guard patience.silence.ask(at: now) else { return }
        let isClear = isClear
        if session.ping() { times.notePing(isClear: isClear, at: now) }
        flush()
    }

    /// `true` while a PING would wait behind no queue of pushes: in the peer, on the way, or here.
    private var isClear: Bool {
        inFlight == 0
            || inFlight <= owner.widthAtFirst && stream?.writeQueueBytes == 0 && session.outputCount == 0
    }

    /// Sends a PING if the last one was long ago: a connection that is never silent would not measure the distance otherwise.
    func renewDistance(at now: MonotonicTime) {
        guard phase == .open, isClear,
            times.lastPing.map({ patience.silence.isLongWhileIdle(since: $0, at: now) }) ?? true
        else {
            return
        }
        askForSignOfLife(at: now)
    }

    private func notePong(at now: MonotonicTime) {
        guard times.notePong(isUndelayed: owner.measuresDistance, at: now) else { return }
        owner.answeredPing(stays: phase == .open && session.allowsStreams && isEstablished(at: now))
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
        phase = .leaving(until: now + commons.configuration.lingerTimeout)
        session.goAway()
        flush()
        stream?.finish()
    }

    /// Ends the requests in flight and stops reading, after the peer broke the protocol. Closing TCP with unread bytes would
    /// discard the GOAWAY that gives the peer the reason, so the peer gets a moment to read it.
    private func breakOff(_ ending: ConnectionEnding, at moment: Moment) {
        flush()
        phase = .leaving(until: moment.monotonic + commons.configuration.lingerTimeout)
        stream?.finish()
        stream?.pauseReading()
        // Written bytes may still leave.
        endSession(unsent: 0, at: moment)
        owner.ended(self, ending, lingers: true, at: moment)
    }

    /// Ends at once; the outcomes of requests in flight are unknown.
    func abort(at moment: Moment) { end(.drained, at: moment) }

    private func streamClosed(_ error: LoopError?) {
        if error.map({ $0.kind == .connectionLost }) ?? true { noteEnd(at: owner.now().monotonic) }
        let text = error.map { "\($0)" } ?? "\(commons.configuration.endpoint): closed by the server"
        switch phase {
        case .dialing, .ended: break
        case .open, .draining: endOnLoop(inFlight == 0 && phase == .draining ? .drained : .lost(text))
        case .leaving: endOnLoop(.drained)
        }
    }

    /// Ends from a callback of the loop, after which the owner needs a turn of its own.
    private func endOnLoop(_ ending: ConnectionEnding) {
        let moment = owner.now()
        end(ending, at: moment)
        owner.turn(at: moment)
    }

    private func end(_ ending: ConnectionEnding, at moment: Moment) {
        guard phase != .ended else { return }
        phase = .ended
        dialer?.close()
        stream?.close()
        endSession(unsent: stream?.plainBytesUnsent ?? 0, at: moment)
        link = .none
        owner.ended(self, ending, lingers: false, at: moment)
    }

    private func endSession(unsent: Int, at moment: Moment) {
        if inFlight > 0, !owner.isClosing { commons.lifespan.cutOff(after: record.answers) }
        session.connectionLost(unsent: unsent)
        takeEvents(at: moment)
    }

    /// Describes a contradiction in a part; `nil` if there is none. For tests.
    func violation() -> String? {
        requests.violation() ?? patience.violation() ?? record.violation() ?? times.violation()
    }
}

/// A pool as its connections see it. Of its calls only `accepted` is made for each push; it costs a look-up in a table, and no reference is counted.
protocol ConnectionOwner: DialingPool {
    var isClosing: Bool { get }
    /// `true` if not all connections were full lately, or nothing was due.
    var hadRoom: Bool { get }
    /// `true` if the time of a PING is to count as the distance: no queue delays it, or nothing else is known.
    var measuresDistance: Bool { get }
    /// Requests that a connection may have in flight after its first answer.
    var widthAtFirst: Int { get }

    /// Lets the pool return completions and pull work, after events that may have changed anything.
    func turn(at moment: Moment)
    func opened(_ connection: Connection)
    /// Handles an event that may have made room on a connection.
    func mayHaveRoom(_ connection: Connection)
    /// Handles a connection whose output has left.
    func drained(_ connection: Connection)
    /// Handles a connection that has room but is asked for a sign of life first.
    func awaitSigns(at now: MonotonicTime)

    func accepted(_ request: SentRequest, at moment: Moment)
    func refused(_ request: SentRequest, status: Int, body: ErrorBody, on connection: Connection, at moment: Moment)
    /// Handles a stream that was reset, by the peer or by the connection after a timeout.
    func reset(_ request: SentRequest, _ code: ErrorCode, on connection: Connection, at moment: Moment)
    func notProcessed(_ request: SentRequest)
    /// Handles a request whose outcome is uncertain.
    func lost(_ request: SentRequest)

    /// Handles a good answer on a connection that was in doubt.
    func regainedTrust(_ connection: Connection)
    /// Handles the answer with which a connection has succeeded often enough for a short wait after its end.
    func succeeded(_ connection: Connection)
    /// Handles the answer to a PING.
    ///
    /// - Parameter stays: `true` if the connection has been open for a while and takes requests.
    func answeredPing(stays: Bool)

    /// Handles the end of a connection's stream ids.
    func exhausted(_ connection: Connection, at moment: Moment)
    /// - Parameter reason: `nil` for an ordinary end, which is not reported if the connection was useful.
    func receivedGoAway(_ connection: Connection, _ code: ErrorCode, reason: String?, at moment: Moment)
    /// Handles a connection whose SETTINGS have allowed no request for a while.
    func allowsNothing(_ connection: Connection, at moment: Moment)
    /// Handles a connection that fell silent with requests in flight.
    func fellSilent(_ connection: Connection, at now: MonotonicTime)
    /// - Parameter lingers: the connection carries nothing any more but is not closed yet; `ended` is called once more when it is.
    func ended(_ connection: Connection, _ ending: ConnectionEnding, lingers: Bool, at moment: Moment)
}
