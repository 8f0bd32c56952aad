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
    /// Milliseconds that an ended connection waits for the client to close.
    private static let lingerMilliseconds = 2000
    private static let reportsMax = 20

    let options: SimulatorOptions
    let loop: Loop
    private let context: TLSContext
    let service: Service
    var sessionSettings: Session.Settings
    let sessionMemory = SessionMemory()
    var clock: OwnClock
    private(set) var now: Instant

    private var listener: TCPListener?
    private(set) var connections: [UInt32: Connection] = [:]
    private var connectionsMade: UInt32 = 0
    private var withOutput: [Connection] = []
    /// Connections to lose at the end of this turn, because their sessions are being read; those in `silencing` fall silent then.
    private var losing: [Connection] = []
    private var silencing: [Connection] = []
    /// Connections to lose after the answers of this turn have left.
    private var losingBehindAnswers: [Connection] = []
    /// Changes of the key by the number of requests after which they take effect.
    private var keyChanges: [Int: ES256PublicKey] = [:]
    private var delayed: DelayQueue
    private var delayTimer: LoopTimer?
    private var isDelayTimerRunning = false
    /// Timer for changes of stream limits and windows.
    var settingsTimer: LoopTimer?
    private var troubleTimers: [LoopTimer] = []
    private var lingerTimer: LoopTimer?
    /// Ended connections with the time at which they are closed for good, oldest first.
    private var lingering: [(connection: UInt32, due: UInt32)] = []
    private var requests = 0
    private var draws: UInt64 = 0
    private var reports = 0

    package var onReport: ((String) -> Void)?

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
        sessionSettings = Session.Settings(
            streamsMax: UInt32(options.streams.first), isStrictAtStart: options.isStrictAtStart,
            window: Int32(options.windows.first), deadSince: now.unixSeconds * 1000 - 86_400_000, seed: options.seed)
        delayed = DelayQueue(delayMax: options.latency.most, now: 0)
        port = options.port
        try listen()
        delayTimer = LoopTimer(loop: loop) { [unowned self] in answerDelayed() }
        lingerTimer = LoopTimer(loop: loop) { [unowned self] in closeForgotten() }
        startTrouble()
        for change in options.keyChanges {
            let key = try Simulator.publicKey(change.file)
            switch change.after {
            case .requests(let count): keyChanges[count] = key
            case .milliseconds(let time): after(time) { [unowned self] in service.trust(key) }
            }
        }
        loop.onTurn = { [unowned self] in writeOutput() }
    }

    package private(set) var port: UInt16
    /// Called on the loop with each push that is accepted.
    package var onAccepted: ((AcceptedPush) -> Void)? {
        get { service.onAccepted }
        set { service.onAccepted = newValue }
    }
    /// Number of connections of which not everything has been read.
    package var connectionCount: Int { connections.count }
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
        listener?.close()
        delayTimer?.close()
        settingsTimer?.close()
        for timer in troubleTimers { timer.close() }
        lingerTimer?.close()
        for connection in connections.values { connection.close() }
    }

    package func writeDump(to path: String) throws {
        try service.accepted.dump(
            to: path, statistics: service.statistics, seed: options.seed, startedNanoseconds: clock.startedNanoseconds)
    }

    // MARK: - Called by connections

    /// Returns the settings with a seed for this connection, so that no two answers share an `apns-id`.
    func sessionSettings(connection: UInt32) -> Session.Settings {
        var settings = sessionSettings
        settings.seed = mixed(settings.seed ^ UInt64(connection))
        return settings
    }

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
        requests += 1
        if !keyChanges.isEmpty, let key = keyChanges[requests] { service.trust(key) }
        if connection.isWedged { return .answerLater(answer, entry) }
        if connection.requests == options.silentAfterRequests {
            silencing.append(connection)
            return .answerAndStop(answer, entry)
        }
        if reset == .internalError {
            service.count(.failed(entry))
            return .reset(.failed(entry))
        }
        if options.losesConnectionAt == answer {
            losingBehindAnswers.append(connection)
            return .answerAndStop(answer, entry)
        }
        if case .requests(let every) = options.losesConnection, requests % every == 0 {
            losing.append(connection)
            return .answerAndStop(answer, entry)
        }
        if case .requests(let every) = options.goesAway, requests % every == 0 {
            service.countGoAway()
            connection.goAway()
        }
        guard options.latency != .none else { return .answer(answer, entry) }
        delayed.add(
            DelayQueue.Waiting(connection: connection.id, stream: stream), delay: options.latency.draw(draw),
            at: Int64(now.sinceStartMilliseconds))
        if !isDelayTimerRunning {
            isDelayTimerRunning = true
            delayTimer?.start(after: .milliseconds(1), repeating: .milliseconds(1))
        }
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

    func hasOutput(_ connection: Connection) { withOutput.append(connection) }

    /// Waits for the client to close a connection whose end was announced, and closes it after a while.
    func linger(_ connection: Connection) {
        lingering.append((connection.id, now.sinceStartMilliseconds &+ UInt32(Simulator.lingerMilliseconds)))
        if lingering.count == 1 { lingerTimer?.start(after: .milliseconds(Simulator.lingerMilliseconds)) }
    }

    func gone(_ connection: Connection) { connections[connection.id] = nil }

    func report(_ text: String) {
        reports += 1
        if reports <= Simulator.reportsMax { onReport?(text) }
        if reports == Simulator.reportsMax { onReport?("further reports of this kind are left out") }
    }

    // MARK: - Turns and timers

    private func accept(_ tcp: TCPStream) {
        if options.refuseConnectionsShare > 0, drawShare() < options.refuseConnectionsShare {
            service.countRefusedConnection()
            return tcp.close()
        }
        connectionsMade &+= 1
        service.countConnection()
        do {
            let wedge = options.wedge.flatMap { drawShare() < $0.share ? $0.afterRequests : nil }
            connections[connectionsMade] = try Connection(
                id: connectionsMade, owner: self, tcp: tcp, context: context, wedgesAfter: wedge)
        } catch {
            report("\(error)")
            tcp.close()
        }
    }

    private func writeOutput() {
        for connection in losing { connection.lose() }
        losing.removeAll(keepingCapacity: true)
        for connection in silencing { connection.fallSilent() }
        silencing.removeAll(keepingCapacity: true)
        for connection in withOutput { connection.writeOutput() }
        withOutput.removeAll(keepingCapacity: true)
        for connection in losingBehindAnswers { connection.lose() }
        losingBehindAnswers.removeAll(keepingCapacity: true)
    }

    private func answerDelayed() {
        readClock()
        delayed.take(until: Int64(now.sinceStartMilliseconds)) { waiting in
            connections[waiting.connection]?.answerNow(waiting.stream)
        }
        if delayed.count == 0 {
            isDelayTimerRunning = false
            delayTimer?.stop()
        }
    }

    private func closeForgotten() {
        readClock()
        while let first = lingering.first, first.due <= now.sinceStartMilliseconds {
            lingering.removeFirst()
            connections[first.connection]?.close()
        }
        if let first = lingering.first {
            lingerTimer?.start(after: .milliseconds(Int(first.due - now.sinceStartMilliseconds)))
        }
    }

    // MARK: - For timed trouble

    func listen() throws(LoopError) {
        listener = try TCPListener(loop: loop, host: options.host, port: port) { [unowned self] in accept($0) }
        port = listener?.port ?? 0
    }

    func stopListening() {
        listener?.close()
        listener = nil
    }

    func after(_ milliseconds: Int, _ body: @escaping () -> Void) {
        let timer = LoopTimer(loop: loop) { [unowned self] in
            readClock()
            body()
        }
        troubleTimers.append(timer)
        timer.start(after: .milliseconds(milliseconds))
    }

    func repeating(_ milliseconds: Int, _ body: @escaping () -> Void) {
        let timer = LoopTimer(loop: loop) { [unowned self] in
            readClock()
            body()
        }
        troubleTimers.append(timer)
        timer.start(after: .milliseconds(milliseconds), repeating: .milliseconds(milliseconds))
    }

    private func drawShare() -> Double { Double(draw() >> 11) * 0x1p-53 }

    func draw() -> UInt64 {
        draws &+= 1
        return mixed(options.seed ^ mixed(draws))
    }
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
        settingsTimer = LoopTimer(loop: loop) { [unowned self] in
            changeSettings()
            armSettingsChange()
        }
        armSettingsChange()
        if options.readBytesPerSecond != nil {
            let tick = Self.readingTickMilliseconds
            repeating(tick) { [unowned self] in
                for connection in connections.values { connection.mayRead(bytesPerTick) }
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
            let candidates = connections.values.filter { $0.hasCarriedRequests && !$0.isLost }.sorted { $0.id < $1.id }
            guard !candidates.isEmpty else { return }
            body(candidates[Int(draw() % UInt64(candidates.count))])
        }
    }

    private func armSettingsChange() {
        let now = Int(clock.now.sinceStartMilliseconds)
        let changes = [options.streams, options.windows].compactMap { $0.change(after: now) }
        if let next = changes.min() { settingsTimer?.start(after: .milliseconds(next - now)) }
    }

    private func changeSettings() {
        let now = Int(clock.now.sinceStartMilliseconds)
        sessionSettings.streamsMax = UInt32(options.streams.value(at: now))
        sessionSettings.window = Int32(options.windows.value(at: now))
        for connection in connections.values { connection.change(sessionSettings) }
    }

    /// Closes the port and loses all connections until `comeUp`.
    package func goDown() {
        stopListening()
        for connection in connections.values where !connection.isLost { connection.lose() }
    }

    package func comeUp() {
        do { try listen() } catch { report("\(error)") }
    }
}

/// Returns the first 64 bits of SHA-256: a token's name in all output.
private func firstDigestWord(_ bytes: [UInt8]) -> UInt64 {
    sha256(bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
}
