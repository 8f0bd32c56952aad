import FanfareFanOut
import FanfareHTTP2
import FanfareLoop
import FanfareModel

/// One connection to APNs: TCP and TLS as the dialer found them, HTTP/2, and the requests in flight on it.
///
/// It tells its pool of each request's end exactly once, and of its own end exactly once. Nothing here waits for anything:
/// what takes time has a deadline, and `tick` is called no later than `nextDeadline`.
final class Connection: Candidate {
    enum Ending {
        /// It never got as far as HTTP/2.
        case notOpened(String)
        /// The same because this process may open no more files.
        case outOfFiles(String)
        /// It was open and broke, or went silent.
        case lost(String)
        /// It had been told, or had decided, to take no more requests, and has no more in flight.
        case drained
    }

    private enum Phase {
        /// Until the peer's first SETTINGS are there, from one address or another.
        case dialing
        case open
        /// No new requests; those in flight go on.
        case draining
        /// Said goodbye; waits for the peer to close.
        case leaving
        case ended
    }

    static let farewellTimeout = Duration.seconds(1)
    /// Unsent bytes above which the peer, or the network, is slower than we are: no more until they have left.
    static let unsentBytesMax = 512 * 1024

    /// What we owe a peer that asks and does not read: replies, beside requests of which no more are made by then. A pull brings half
    /// a megabyte of these at most.
    static let unreadBytesMax = 2 * 1024 * 1024

    /// Errors without a good answer between them, after which another connection may do better.
    static let errorsInARowMax = 8

    private unowned let pool: ConnectionPool
    private var phase = Phase.dialing
    private var dialer: Dialer?
    private var stream: TLSStream?
    // No call into these comes back here while it works: checking each access at run time, several for each push, could never
    // fail.
    @exclusivity(unchecked) private var session: ClientSession
    @exclusivity(unchecked) private var events = EventBatch()
    @exclusivity(unchecked) private var requests = RequestTable()

    /// The session writes in its pool's memory until that has been flushed.
    private var writesInPoolMemory = false

    /// Monotonic nanoseconds, as all times here. Of the farewell.
    private var phaseEnds = Int64.max
    private(set) var lastHeard: Int64 = 0
    /// Since when there have been requests in flight without a break. Silence means something from then on.
    private var busySince: Int64 = 0
    /// Nanoseconds of silence after which nothing is known of the peer.
    private let silenceMax: Int64
    private let pongMax: Int64
    private let idleMax: Int64
    private let answerMax: Int64
    /// When it was asked for a sign of life; `nil` once anything has been heard.
    private var pingedAt: Int64?
    /// When the oldest request may be too old. Early when that one has been answered since; then the sweep finds nothing.
    private var requestsDue = Int64.max

    /// Of the quickest answer's time: so long an answer may take.
    private static let queueFactor: Int64 = 4
    /// Of a request's usual time, however slow the peer is: meanwhile its activity gets nothing newer.
    private static let patienceFactor: Int64 = 3

    @exclusivity(unchecked) var isCandidate = false
    /// Names this connection for the life of its pool.
    let serial: UInt64
    /// 5xx answers, resets and timeouts since the last good answer, but for those that only say something about their activity.
    private(set) var errorsInARow = 0
    var isInDoubt: Bool { errorsInARow >= Connection.errorsInARowMax }
    /// When the peer has allowed no streams for too long; `.max` while it allows some.
    private var noStreamsEnds = Int64.max
    private(set) var roundTrip = RoundTrip(memory: .seconds(10))
    /// The same of the last moments, of answers to pushes alone, queues and all.
    private(set) var pace = RoundTrip(memory: .seconds(1))
    /// Requests that the peer has allowed at once, at most.
    private var streamsMost = 0
    /// What it allows now, and when it last came to allow fewer than before.
    private var streamsLast = 0
    private var cutAt: Int64?
    /// What a peer has kept to for longer is how it is today.
    private static let cutTime: Int64 = 60 * 1_000_000_000
    /// When the PING left whose answer is awaited; kept when anything else is heard.
    private var timedPing: Int64?
    /// How its answers come beside those of the others.
    var slowness = Slowness()
    var isSlow: Bool { slowness.isSlow }
    /// Its peer has refused a JWT as too old, and there was no other one.
    var hasSeenExpiredJWT = false
    /// A push with our JWT has been processed.
    private(set) var isProved = false
    /// Pushes that were processed.
    private(set) var answers = 0
    /// Of those, the ones after which an activity gets nothing more.
    @exclusivity(unchecked) var finalAnswers = FinalAnswers()
    /// When the last of them were.
    private var lastProved: Int64 = 0
    /// A connection that was lost after so many is replaced at once: one that breaks again and again then costs a handshake
    /// for a hundred pushes at most, and throughput falls by no more than that.
    private static let worthwhileAnswers = 100
    /// After so many the next wait for a connection is a short one again. Not after one: a server that takes one push from each
    /// connection and ends it would be dialled as fast as it answers, which APNs takes for an attack (spec §10).
    private static let provingAnswers = 16
    var wasWorthwhile: Bool { answers >= Connection.worthwhileAnswers }
    /// Requests are on their way, or were lately.
    func isBusy(at now: Int64) -> Bool { inFlight > 0 || now - lastProved < 10 * 1_000_000_000 }
    var hasEarnedAnother: Bool { answers >= Replacements.earnedBy }
    private(set) var openedAt: Int64?
    /// Since it opened.
    private(set) var address: SocketAddress?

    init(pool: ConnectionPool, serial: UInt64) {
        self.pool = pool
        self.serial = serial
        silenceMax = pool.configuration.pingAfter.nanoseconds
        pongMax = pool.configuration.pingTimeout.nanoseconds
        idleMax = pool.configuration.idlePingAfter.nanoseconds
        answerMax = pool.configuration.requestTimeout.nanoseconds
        // Nothing is written to this one: the dialer's takes its place.
        session = ClientSession(configuration: ClientSession.Configuration())
    }

    // A pool that is dropped without being closed must not be called back.
    deinit {
        dialer?.close()
        stream?.close()
    }

    /// It was well and had nothing to do when the peer, or something on the way, ended it, and had been open for longer than a peer takes to
    /// refuse one.
    private(set) var wasEndedAtRest = false

    /// Since it opened.
    private var hasBeenHeard = false

    /// - Parameter isSilent: it has answered no PING. Who never said more than SETTINGS was never well.
    private func noteEnd(at now: Int64, isSilent: Bool = false) {
        wasEndedAtRest =
            phase == .open && (hasBeenHeard || !isSilent) && inFlight == 0 && !isInDoubt && session.allowsStreams
            && isEstablished(at: now)
    }

    private func isEstablished(at now: Int64) -> Bool { openedAt.map { now - $0 >= silenceMax } ?? false }

    /// Open for longer than anybody waits for a connection: its end has nothing to do with the ends before it, whatever it carried.
    func hasLasted(at now: Int64) -> Bool {
        openedAt.map { now - $0 >= ConnectionPool.seatWaitMax.nanoseconds } ?? false
    }

    var inFlight: Int { requests.count }
    var isOpen: Bool { phase == .open }
    var isDialing: Bool { phase == .dialing }

    // MARK: Opening

    func open(at now: Int64) {
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
        openedAt = moment.monotonicNanoseconds
        address = attempt.address
        lastHeard = moment.monotonicNanoseconds
        swap(&session, &attempt.session)
        let stream = attempt.stream
        stream.onReady = nil
        stream.onRead = { [unowned self] in self.received($0) }
        stream.onClose = { [unowned self] in self.streamClosed($0) }
        stream.onDrain = { [unowned self] in self.pool.drained(self) }
        self.stream = stream
        pool.opened(self)
        // Before anybody needs the connection it tells how far away the peer is.
        if pool.choosesSize { askForSignOfLife(at: moment.monotonicNanoseconds) }
        noteStreams(at: moment)
        // A GOAWAY may have come right behind the SETTINGS.
        takeEvents(at: moment)
        pool.turn(at: moment)
        flush()
    }

    // MARK: Requests

    /// How many more requests it takes now. None when nothing has been heard for long: the peer, or a router on the way, may
    /// have forgotten the connection, and with it all that would be sent. Then it asks for a sign of life, for a round trip.
    /// - Parameter bodyBytes: the usual size of a body, by which the connection's window is divided.
    func room(bodyBytes: Int, at now: Int64) -> Int {
        guard phase == .open else { return 0 }
        let inWindow = session.freeWindow / max(1, bodyBytes)
        // An idle connection always takes one: a peer may open its window no sooner than it is used up.
        let room = min(session.freeStreams, inFlight == 0 ? max(1, inWindow) : inWindow)
        guard room > 0, room >= pullMin(room: room, inWindow: inWindow) else { return 0 }
        guard let stream, stream.writeQueueBytes + session.outputCount < Connection.unsentBytesMax else { return 0 }
        guard now - lastHeard < silenceMax else {
            askForSignOfLife(at: now)
            return 0
        }
        return room
    }

    /// Requests that a pull is for, at least. Each pull costs records, writes and reads of its own, however little it brings, so that a full
    /// connection waits until a sixteenth of what it carries is free; a wide one until a few are, for a peer may give its window back long
    /// before it answers, and then what is in flight says little of what may be.
    private func pullMin(room: Int, inWindow: Int) -> Int {
        let most = inWindow < session.freeStreams ? Connection.pullMinInWindow : Connection.pullMinInStreams
        return min(most, (inFlight + room) / Connection.pullsPerRoundTrip)
    }

    private static let pullsPerRoundTrip = 16
    private static let pullMinInStreams = 16
    /// Any window has room for so many bodies, however large they are.
    private static let pullMinInWindow = 4

    /// It has not carried enough to take as much as the peer may allow, and what it carries makes it wider.
    var isWidening: Bool { session.streamLimit < streamLimitMost }

    private var streamLimitMost: Int { min(session.configuration.streamsMax, pool.lifespan.streamsMost) }

    /// Requests that may be in flight on it when it is wide, as far as the peer has told.
    func width(bodyBytes: Int) -> Int {
        let inWindow = (session.freeWindow + inFlight * bodyBytes) / max(1, bodyBytes)
        return max(1, min(streamsAllowed, inWindow))
    }

    /// With token authentication APNs allows one until it has seen a push, and then what it really allows (spec §10).
    var streamsAllowed: Int { streamsMost > 1 ? streamsMost : session.configuration.streamsMax }

    /// The peer has allowed more a moment ago: it wants us to be slower.
    func isHeldBack(at now: Int64) -> Bool {
        streamsMost > 1 && streamsLast < streamsMost && cutAt.map { now - $0 < Connection.cutTime } ?? false
    }

    /// - Parameter run: deliveries of the batch that carry one payload.
    /// - Returns: how many of them it took, from the first one on.
    func send(
        _ run: Range<Int>, of batch: DeliveryBatch, as form: RequestFields.Form, at now: Int64
    ) -> Int {
        guard phase == .open else { return 0 }
        borrowMemory()
        if requests.count == 0 {
            requestsDue = now + answerMax
            busySince = now
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

    /// Hands what has been written to TLS; it leaves at the end of the loop's turn.
    func flush() {
        guard let stream, session.outputCount > 0 else { return }
        session.withOutput { stream.write($0) }
        session.take(session.outputCount)
        // Nothing waits in it any more.
        if writesInPoolMemory { exchangeMemory() }
    }

    /// Requests of all connections are written in one memory, which stays in the processor's cache.
    private func borrowMemory() {
        if !writesInPoolMemory, session.outputCount == 0 { exchangeMemory() }
    }

    private func exchangeMemory() {
        session.exchangeMemory(with: &pool.requestMemory)
        writesInPoolMemory.toggle()
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        let moment = pool.now()
        lastHeard = moment.monotonicNanoseconds
        hasBeenHeard = true
        // Whatever is heard is a sign of life, not the PING's answer alone.
        pingedAt = nil
        session.receive(bytes)
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
        let pool = self.pool
        let answersBefore = answers
        var soonest = Int64.max
        var failure: String?
        for event in batch.events {
            switch event {
            case .response(let response):
                let request = requests.remove(response.tag)
                soonest = min(soonest, moment.monotonicNanoseconds - request.sentAt)
                if response.status == 200 {
                    proved()
                    finalAnswers.note(isFinal: false)
                    pool.accepted(request, at: moment)
                } else {
                    let body = ErrorBody(Array(batch[response.body]))
                    pool.refused(request, status: response.status, body: body, on: self, at: moment)
                }
            case .notProcessed(let tag):
                let request = requests.remove(tag)
                // While open only RST_STREAM says so; a GOAWAY has made us drain before it gives requests back.
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
                if reason == nil { noteEnd(at: moment.monotonicNanoseconds) }
                pool.connectionWasToldToGo(self, code, reason: reason, at: moment)
            case .exhausted: pool.replace(self, at: moment)
            case .pong: timePong(at: moment.monotonicNanoseconds)
            case .settingsChanged: noteStreams(at: moment)
            case .failed(_, let text): failure = batch.text(text)
            }
        }
        if answers != answersBefore { lastProved = moment.monotonicNanoseconds }
        if soonest < .max {
            roundTrip.note(soonest, at: moment.monotonicNanoseconds)
            pace.note(soonest, at: moment.monotonicNanoseconds)
        }
        if let failure {
            let text = "\(pool.configuration.endpoint): the server broke HTTP/2: \(failure)"
            breakOff(.lost(text), at: moment)
        } else if phase == .draining, inFlight == 0 {
            leave(at: moment.monotonicNanoseconds)
        }
    }

    /// The answer shows that APNs knows who we are and that answers come through. A connection starts with one request, as APNs asks with
    /// token authentication (spec §10). The first answer makes it as wide as TCP is by then, and each further one wider by one: so both
    /// double with each round trip, and one that breaks at once takes few outcomes with it.
    func proved() {
        let most = streamLimitMost
        if session.streamLimit < most {
            session.streamLimit = answers == 0 ? min(most, pool.widthAtFirst) : session.streamLimit + 1
        }
        pool.lifespan.answered()
        answers += 1
        isProved = true
        disbelievedInARow = 0
        if errorsInARow > 0 {
            if isInDoubt { pool.trust(self) }
            errorsInARow = 0
        }
        if answers == Connection.provingAnswers { pool.proved(self) }
    }

    /// It has called a token dead, or a request wrong, and another one is asked before that is believed. It may be right, so that it is no
    /// reason to replace it; but others go before it, or it would be asked again.
    private(set) var disbelievedInARow = 0

    func disbelieved() { disbelievedInARow += 1 }

    /// A request was answered 5xx, was reset, or has had no answer in time.
    func erred(_ evidence: Suspects.Evidence) { if evidence != .activity { errorsInARow += 1 } }

    /// Nobody knows what became of the request, and its alert, if it had one, is not sent again. So a connection in doubt risks one
    /// outcome at a time, however wide it was. A request whose time is over, with no push processed since it was sent, is reason
    /// enough for doubt: the peer may answer PINGs for ever, and the service behind it nothing.
    func lost(_ request: RequestTable.Request, _ evidence: Suspects.Evidence, isOverdue: Bool) {
        if isOverdue, evidence != .activity, lastProved < request.sentAt {
            errorsInARow = max(errorsInARow, Connection.errorsInARowMax)
        }
        guard isInDoubt, session.streamLimit > 1 else { return }
        session.streamLimit = 1
        // What is in flight still is as good as lost.
        pool.lifespan.cutOff(after: answers)
    }

    /// What it answers is the fault of all pushes alike, or its own. Until that is known it is asked one at a time.
    func refused(_ evidence: Suspects.Evidence) {
        erred(evidence)
        if isInDoubt { session.streamLimit = 1 }
    }

    private func noteStreams(at moment: Moment) {
        if session.settingsReceived {
            if session.streamsAllowed < streamsLast { cutAt = moment.monotonicNanoseconds }
            streamsLast = session.streamsAllowed
            streamsMost = max(streamsMost, streamsLast)
        }
        guard !session.allowsStreams else { return noStreamsEnds = .max }
        guard noStreamsEnds == .max else { return }
        noStreamsEnds = moment.monotonicNanoseconds + pool.configuration.noStreamsTimeout.nanoseconds
    }

    // MARK: Time

    var nextDeadline: Int64 {
        switch phase {
        case .dialing: dialer?.nextDeadline ?? .max
        case .leaving: phaseEnds
        case .open: min(requestsDue, silenceEnds, noStreamsEnds)
        case .draining: min(requestsDue, silenceEnds)
        case .ended: .max
        }
    }

    private var silenceEnds: Int64 {
        if let pingedAt { return pingedAt + pongMax }
        return inFlight > 0 ? max(lastHeard, busySince) + silenceMax : lastHeard + idleMax
    }

    func tick(at moment: Moment) {
        let now = moment.monotonicNanoseconds
        guard now >= nextDeadline else { return }
        switch phase {
        case .dialing: dialer?.tick(at: now)
        case .open, .draining:
            if phase == .open, now >= noStreamsEnds { return pool.connectionAllowsNothing(self, at: moment) }
            if now >= silenceEnds { return endSilence(at: moment) }
            for tag in requests.sent(until: now - patience(at: now)) { session.cancel(tag: tag) }
            takeEvents(at: moment)
            flush()
            requestsDue = requests.oldest.map { min($0 + patience(at: now), queueEnds(at: now) ?? .max) } ?? .max
        case .leaving: end(.drained, at: moment)
        case .ended: break
        }
    }

    /// How long an answer is waited for. Where even the quickest take a good part of the usual time, the peer has a queue, and nobody who
    /// stands in it is lost.
    private func patience(at now: Int64) -> Int64 {
        guard queueEnds(at: now) != nil, let least = pace.least else { return answerMax }
        return Connection.patience(usual: answerMax, least: least)
    }

    /// - Parameter least: what the quickest answers take.
    static func patience(usual: Int64, least: Int64) -> Int64 {
        max(usual, min(Connection.queueFactor * least, Connection.patienceFactor * usual))
    }

    /// Until when the last answer shows that others come: a connection that falls silent has no queue.
    private func queueEnds(at now: Int64) -> Int64? {
        guard let notedAt = pace.notedAt, let least = pace.least, least > answerMax / Connection.queueFactor,
            now < notedAt + answerMax / 2
        else { return nil }
        return notedAt + answerMax / 2
    }

    private func endSilence(at moment: Moment) {
        guard pingedAt == nil else {
            noteEnd(at: moment.monotonicNanoseconds, isSilent: true)
            if inFlight > 0 { pool.doubtAddress(of: self, at: moment.monotonicNanoseconds) }
            return end(.lost("\(pool.configuration.endpoint): the server went silent"), at: moment)
        }
        askForSignOfLife(at: moment.monotonicNanoseconds)
    }

    func askForSignOfLife(at now: Int64) {
        guard pingedAt == nil else { return }
        pingedAt = now
        if session.ping() { timedPing = now }
        flush()
    }

    private func timePong(at now: Int64) {
        guard let sent = timedPing.take() else { return }
        roundTrip.note(now - sent, at: now)
        pool.reviewDue = .min
        if phase == .open, session.allowsStreams, isEstablished(at: now) { pool.stays() }
    }

    // MARK: End

    /// Takes no more requests, and ends when those in flight have; what is not open yet never will be.
    func drain(at moment: Moment) {
        switch phase {
        case .dialing: end(.drained, at: moment)
        case .open:
            phase = .draining
            if inFlight == 0 { leave(at: moment.monotonicNanoseconds) }
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
        // What is written may leave yet.
        endSession(unsent: 0, at: moment)
        pool.ended(self, ending, at: moment, lingers: true)
    }

    /// Ends at once. Requests in flight are unknown.
    func abort(at moment: Moment) { end(.drained, at: moment) }

    private func streamClosed(_ error: LoopError?) {
        if error.map({ $0.kind == .connectionLost }) ?? true { noteEnd(at: pool.now().monotonicNanoseconds) }
        let text = error.map { "\($0)" } ?? "\(pool.configuration.endpoint): closed by the server"
        switch phase {
        case .dialing, .ended: break
        case .open, .draining: endOnLoop(inFlight == 0 && phase == .draining ? .drained : .lost(text))
        case .leaving: endOnLoop(.drained)
        }
    }

    /// From a callback of the loop: the pool has to act on it by itself.
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
