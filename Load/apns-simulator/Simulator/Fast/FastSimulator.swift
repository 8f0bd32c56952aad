package import FanfareLoop
internal import ServerTestSupport

/// The simulator for load: it answers more than a million requests a second on one core, because it reads HTTP/2 with Fanfare's own codec
/// and checks next to nothing. `Simulator` is for everything else.
///
/// Confined to its loop's thread.
package final class FastSimulator: APNsStandIn, FastConnectionOwner {
    /// Time that an ended connection waits for the client to close.
    private static let lingerTime = Duration.seconds(2)
    private static let reportsMax = 20

    private let context: TLSContext
    let service: FastService
    private let settings: FastSession.Settings
    private let startedNanoseconds = Clock.monotonicNanoseconds()
    private let loop: Loop

    private var listener: TCPListener?
    private var connections: [UInt32: FastConnection] = [:]
    private var connectionsMade: UInt32 = 0
    private var withOutput: [FastConnection] = []
    private var lingering: [(connection: UInt32, timer: LoopTimer)] = []
    private var answerTimer: LoopTimer?
    private var isAnswering = false
    private var reports = 0

    package var onReport: ((String) -> Void)?

    /// Starts to listen at once.
    package init(_ options: SimulatorOptions, loop: Loop) throws(LoopError) {
        self.loop = loop
        context = try TLSContext.server(certificateFile: options.certificateFile, keyFile: options.keyFile)
        service = FastService(seed: options.seed, deadShare: options.deadShare)
        settings = FastSession.Settings(
            streamsMax: options.streams.first, latencyMilliseconds: UInt32(options.latency.most),
            window: options.fastWindow ?? FastSession.Settings().window,
            deadSince: Clock.wallMilliseconds() - 86_400_000)
        listener = try TCPListener(loop: loop, host: options.host, port: options.port) { [unowned self] in accept($0) }
        answerTimer = LoopTimer(loop: loop) { [unowned self] in answerWaiting() }
        loop.onTurn = { [unowned self] in endTurn() }
    }

    package var port: UInt16 { listener?.port ?? 0 }
    package var statistics: Statistics { service.statistics }

    /// One line of `key=value` pairs: those of `Statistics`, the number of tokens, and their least and most accepted pushes.
    package func summary(cpuSeconds: Double) -> String {
        service.countAccepted()
        var line = statistics.summary(cpuSeconds: cpuSeconds) + " tokens=\(service.tokens.tokens)"
        if let range = service.tokens.range {
            line += " fewest_per_token=\(range.lowerBound) most_per_token=\(range.upperBound)"
        }
        return line
    }

    package func close() {
        loop.onTurn = nil
        listener?.close()
        answerTimer?.close()
        for connection in lingering { connection.timer.close() }
        for connection in connections.values { connection.close() }
    }

    // MARK: - Called by connections

    func readClock() -> UInt32 {
        let milliseconds = (Clock.monotonicNanoseconds() - startedNanoseconds) / 1_000_000
        service.second = UInt32(truncatingIfNeeded: milliseconds / 1000)
        return UInt32(truncatingIfNeeded: milliseconds)
    }

    func hasOutput(_ connection: FastConnection) { withOutput.append(connection) }

    func startAnswering() {
        guard !isAnswering else { return }
        isAnswering = true
        answerTimer?.start(after: .milliseconds(1), repeating: .milliseconds(1))
    }

    /// Waits for the client to close a connection whose end was announced, and closes it after a while.
    func linger(_ connection: FastConnection) {
        let id = connection.id
        let timer = LoopTimer(loop: loop) { [unowned self] in connections[id]?.close() }
        timer.start(after: FastSimulator.lingerTime)
        lingering.append((id, timer))
    }

    func gone(_ connection: FastConnection, unanswered: Int) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        service.countUnanswered(unanswered)
        guard let index = lingering.firstIndex(where: { $0.connection == connection.id }) else { return }
        lingering.remove(at: index).timer.close()
    }

    func report(_ text: String) {
        reports += 1
        if reports <= FastSimulator.reportsMax { onReport?(text) }
        if reports == FastSimulator.reportsMax { onReport?("further reports of this kind are left out") }
    }

    // MARK: - Turns and timers

    private func accept(_ tcp: TCPStream) {
        connectionsMade &+= 1
        service.countConnection()
        do {
            connections[connectionsMade] = try FastConnection(
                id: connectionsMade, owner: self, tcp: tcp, context: context, settings: settings)
        } catch {
            report("\(error)")
            tcp.close()
        }
    }

    private func endTurn() {
        for connection in withOutput { connection.writeOutput() }
        withOutput.removeAll(keepingCapacity: true)
        service.countAccepted()
    }

    private func answerWaiting() {
        let now = readClock()
        var isWaiting = false
        for connection in connections.values where connection.answerWaiting(at: now) { isWaiting = true }
        guard !isWaiting else { return }
        isAnswering = false
        answerTimer?.stop()
    }
}
