package import FanfareLoop
internal import ServerTestSupport

/// Interface of a simulator to the program, in either mode.
package protocol APNsStandIn: AnyObject {
    /// Port that the simulator listens on.
    var port: UInt16 { get }
    /// Receives reports for an operator: broken clients, failed handshakes. Set by the program. A report never contains a token.
    var onReport: ((String) -> Void)? { get set }
    /// Stops listening and closes every connection.
    func close()
    /// One line of `key=value` pairs, for people and for `grep`.
    func summary(cpuSeconds: Double) -> String
}

/// The APNs simulator on a loop: accepts connections, reads the clock, and makes the trouble that its options ask for.
///
///     let simulator = try Simulator(options, loop: loop)
///     print(simulator.port)
///     loop.run()
///     try simulator.writeDump(to: "dump.ndjson")
///
/// Confined to its loop's thread.
package final class Simulator: APNsStandIn, ConnectionOwner {
    let options: SimulatorOptions
    let loop: Loop
    private let context: TLSContext
    let service: Service
    var sessions: SessionCommons
    var clock: OwnClock
    private(set) var now: Instant

    private var listening: ListeningPort
    private(set) var connections = ConnectionTable()
    private let turnEnd = TurnEnd()
    private var course: TroubleCourse
    private var delayed: DelayedAnswers
    var troubleTimers = TroubleTimers()
    private var lingering = LingeringConnections()
    private var reports = LimitedReports()

    /// Starts to listen at once.
    package init(_ options: SimulatorOptions, loop: Loop) throws(LoopError) {
        self.options = options
        self.loop = loop
        context = try TLSContext.server(certificateFile: options.certificateFile, keyFile: options.keyFile)
        let publicKey = try Simulator.publicKey(options.publicKeyFile)
        let behaviour = Behaviour(
            seed: options.seed, deadShare: options.deadShare, throttleShare: options.throttleShare,
            errorShare: options.errorShare, throttleMilliseconds: Int64(options.throttleMilliseconds),
            mixes: options.mixes)
        service = Service(
            bundleID: options.bundleID, behaviour: behaviour,
            accepted: AcceptedPushes(behaviour: behaviour, digest: firstDigestWord),
            providerToken: ProviderTokenCheck(keyID: options.keyID, teamID: options.teamID) {
                publicKey.verify($1, of: $0)
            }, stampAgeMaxSeconds: options.stampAgeMaxSeconds)
        let clock = OwnClock(aheadMilliseconds: Int64(options.clockAheadSeconds) * 1000)
        self.clock = clock
        now = clock.now
        sessions = SessionCommons(
            SessionSettings(
                streamsMax: UInt32(options.streams.first), isStrictAtStart: options.isStrictAtStart,
                window: Int32(options.windows.first), deadSince: now.unixSeconds * 1000 - 86_400_000, seed: options.seed
            ))
        course = TroubleCourse(seed: options.seed)
        delayed = DelayedAnswers(delayMax: options.latency.most)
        listening = ListeningPort(options.port)
        try listen()
        delayed.timer = LoopTimer(loop: loop) { [unowned self] in answerDelayed() }
        lingering.timer = LoopTimer(loop: loop) { [unowned self] in closeForgotten() }
        startTrouble()
        for change in options.keyChanges {
            let key = try Simulator.publicKey(change.file)
            switch change.after {
            case .requests(let count): course.change(to: key, afterRequests: count)
            case .milliseconds(let time): after(time) { [unowned self] in service.trust(key) }
            }
        }
        loop.onTurn = { [unowned self] in turnEnd.carryOut() }
    }

    package var port: UInt16 { listening.number }
    package var onReport: ((String) -> Void)? {
        get { reports.onReport }
        set { reports.onReport = newValue }
    }
    /// Called on the loop with each push that is accepted.
    package var onAccepted: ((AcceptedPush) -> Void)? {
        get { service.onAccepted }
        set { service.onAccepted = newValue }
    }
    /// Number of connections of which not everything has been read.
    package var connectionCount: Int { connections.all.count }
    package var startedNanoseconds: Int64 { clock.startedNanoseconds }
    package var statistics: Statistics { service.statistics }
    package func summary(cpuSeconds: Double) -> String { statistics.summary(cpuSeconds: cpuSeconds) }
    /// Number of tokens seen, including dead ones.
    package var tokenCount: Int { service.accepted.tokens.count }

    private static func publicKey(_ file: String) throws(LoopError) -> ES256PublicKey {
        try ES256PublicKey(pem: String(decoding: readFile(file, max: 65_536), as: UTF8.self), place: file)
    }

    /// Share of requests answered with an error (`--error-share`); tests change it while the simulator runs.
    package var errorShare: Double {
        get { service.behaviour.errorShare }
        set { service.behaviour.errorShare = newValue }
    }

    package func close() {
        loop.onTurn = nil
        listening.close()
        delayed.timer?.close()
        troubleTimers.close()
        lingering.timer?.close()
        for connection in connections.all.values { connection.close() }
    }

    package func writeDump(to path: String) throws {
        try service.accepted.dump(
            to: path, statistics: service.statistics, seed: options.seed, startedNanoseconds: clock.startedNanoseconds)
    }

    // MARK: - Called by connections

    func readClock() { now = clock.now }

    func receive(_ head: RequestHead, body: [UInt8], stream: Int32, on connection: Connection) -> Reception {
        if connection.isWedged, let answer = options.wedge?.answer {
            return .answer(service.answer(answer, at: now), nil)
        }
        let reset = drawReset(of: head.token)
        if reset == .refusedStream {
            service.count(.refused)
            return .reset(.refused)
        }
        let (answer, entry) = service.answer(head, body: body, at: now)
        if let key = course.countRequest() { service.trust(key) }
        if connection.isWedged { return .answerLater(answer, entry) }
        if connection.requests == options.silentAfterRequests {
            turnEnd.silence(connection)
            return .answerAndStop(answer, entry)
        }
        if reset == .internalError {
            service.count(.failed(entry))
            return .reset(.failed(entry))
        }
        if options.losesConnectionAt == answer {
            turnEnd.loseBehindAnswers(connection)
            return .answerAndStop(answer, entry)
        }
        if case .requests(let every) = options.losesConnection, course.requests % every == 0 {
            turnEnd.lose(connection)
            return .answerAndStop(answer, entry)
        }
        if case .requests(let every) = options.goesAway, course.requests % every == 0 {
            service.countGoAway()
            connection.goAway()
        }
        guard options.latency != .none else { return .answer(answer, entry) }
        delayed.add(
            DelayQueue.Waiting(connection: connection.id, stream: stream), delay: options.latency.draw(draw),
            at: Int64(now.sinceStartMilliseconds))
        return .answerLater(answer, entry)
    }

    /// Draws the reset of a request for this token; `nil` for no reset.
    private func drawReset(of token: ArraySlice<UInt8>) -> ResetMix.Code? {
        if let said = options.resets.first(where: { $0.covers(token) && drawShare() < $0.share }) { return said.code }
        if options.refuseShare > 0, drawShare() < options.refuseShare { return .refusedStream }
        if options.resetShare > 0, drawShare() < options.resetShare { return .internalError }
        return nil
    }

    func answerLost(_ entry: EntryIndex?) {
        service.countUnanswered()
        if let entry { service.accepted.markUnanswered(entry) }
    }

    func hasOutput(_ connection: Connection) { turnEnd.write(connection) }

    /// Waits for the client to close a connection whose end was announced, and closes it after a while.
    func linger(_ connection: Connection) {
        lingering.add(connection.id, at: now.sinceStartMilliseconds)
    }

    func gone(_ connection: Connection) { connections[connection.id] = nil }

    func report(_ text: String) {
        reports.say(text)
    }

    // MARK: - Turns and timers

    private func accept(_ tcp: TCPStream) {
        if options.refuseConnectionsShare > 0, drawShare() < options.refuseConnectionsShare {
            service.countRefusedConnection()
            return tcp.close()
        }
        let id = connections.nextID()
        service.countConnection()
        do {
            let wedge = options.wedge.flatMap { drawShare() < $0.share ? $0.afterRequests : nil }
            connections[id] = try Connection(
                id: id, owner: self, tcp: tcp, context: context, wedgesAfter: wedge)
        } catch {
            report("\(error)")
            tcp.close()
        }
    }

    private func answerDelayed() {
        readClock()
        delayed.take(until: Int64(now.sinceStartMilliseconds)) { waiting in
            connections[waiting.connection]?.answerNow(waiting.stream)
        }
    }

    private func closeForgotten() {
        readClock()
        while let id = lingering.popDue(at: now.sinceStartMilliseconds) { connections[id]?.close() }
        lingering.arm(at: now.sinceStartMilliseconds)
    }

    // MARK: - For timed trouble

    func listen() throws(LoopError) {
        try listening.open(loop, host: options.host) { [unowned self] in accept($0) }
    }

    func stopListening() { listening.close() }

    func after(_ milliseconds: Int, _ body: @escaping () -> Void) {
        let timer = LoopTimer(loop: loop) { [unowned self] in
            readClock()
            body()
        }
        troubleTimers.add(timer)
        timer.start(after: .milliseconds(milliseconds))
    }

    func repeating(_ milliseconds: Int, _ body: @escaping () -> Void) {
        let timer = LoopTimer(loop: loop) { [unowned self] in
            readClock()
            body()
        }
        troubleTimers.add(timer)
        timer.start(after: .milliseconds(milliseconds), repeating: .milliseconds(milliseconds))
    }

    private func drawShare() -> Double { Double(draw() >> 11) * 0x1p-53 }

    func draw() -> UInt64 { course.draw() }
}

/// Timed trouble of connections: changing stream limits and windows, GOAWAYs, lost connections, slow reading and outages.
extension Simulator {
    static let readingTickMilliseconds = 50

    func startTrouble() {
        if case .milliseconds(let interval) = options.losesConnection { every(interval) { $0.lose() } }
        if case .milliseconds(let interval) = options.goesAway {
            every(interval) { [unowned self] in
                service.countGoAway()
                $0.goAway()
                hasOutput($0)
            }
        }
        troubleTimers.settings = LoopTimer(loop: loop) { [unowned self] in
            changeSettings()
            armSettingsChange()
        }
        armSettingsChange()
        if options.readBytesPerSecond != nil {
            let tick = Self.readingTickMilliseconds
            repeating(tick) { [unowned self] in
                for connection in connections.all.values { connection.mayRead(bytesPerTick) }
            }
        }
        if let outage = options.outageMilliseconds {
            after(outage.lowerBound) { [unowned self] in goDown() }
            after(outage.upperBound) { [unowned self] in comeUp() }
        }
    }

    var bytesPerTick: Int? {
        options.readBytesPerSecond.map { max(1, $0 * Self.readingTickMilliseconds / 1000) }
    }

    /// Calls `body` at each interval with one of the connections that carry requests, drawn at random.
    private func every(_ interval: Int, _ body: @escaping (Connection) -> Void) {
        repeating(interval) { [unowned self] in
            let candidates = connections.all.values.filter { $0.hasCarriedRequests && !$0.isLost }.sorted {
                $0.id < $1.id
            }
            guard !candidates.isEmpty else { return }
            body(candidates[Int(draw() % UInt64(candidates.count))])
        }
    }

    private func armSettingsChange() {
        let now = Int(clock.now.sinceStartMilliseconds)
        let changes = [options.streams, options.windows].compactMap { $0.change(after: now) }
        if let next = changes.min() { troubleTimers.settings?.start(after: .milliseconds(next - now)) }
    }

    private func changeSettings() {
        let now = Int(clock.now.sinceStartMilliseconds)
        sessions.settings.streamsMax = UInt32(options.streams.value(at: now))
        sessions.settings.window = Int32(options.windows.value(at: now))
        for connection in connections.all.values { connection.change(sessions.settings) }
    }

    /// Closes the port and loses all connections until `comeUp`.
    package func goDown() {
        stopListening()
        for connection in connections.all.values where !connection.isLost { connection.lose() }
    }

    package func comeUp() {
        do { try listen() } catch { report("\(error)") }
    }
}

/// Returns the first 64 bits of SHA-256: a token's name in all output.
private func firstDigestWord(_ bytes: [UInt8]) -> UInt64 {
    sha256(bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
}
