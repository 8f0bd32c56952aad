internal import FanfareLoop
internal import ServerTestSupport

/// The simulator as its connections see it.
protocol ConnectionOwner: AnyObject {
    var service: Service { get }
    /// A reading of the simulator's clock, as of the last `readClock`.
    var now: Instant { get }
    var sessions: SessionCommons { get }
    /// Bytes that a connection may read between two ticks; `nil` for no limit.
    var bytesPerTick: Int? { get }

    func readClock()
    func receive(_ head: RequestHead, body: [UInt8], stream: Int32, on connection: Connection) -> Reception
    func answerLost(_ entry: EntryIndex?)
    func hasOutput(_ connection: Connection)
    func linger(_ connection: Connection)
    func gone(_ connection: Connection)
    func report(_ text: String)
}

/// One client's connection: TLS below, HTTP/2 above, and the ways in which it can end. Confined to the simulator's loop.
final class Connection: SessionHandler {
    /// Most unread answer bytes: a client that does not read its answers is not read from either.
    private static let unreadBytesMax = 1 << 20

    let id: UInt32
    private unowned let owner: any ConnectionOwner
    private let stream: TLSStream
    private var session: Session?
    private var output: [UInt8] = []
    private var isReadingPaused = false
    /// Is `true` when the client has broken HTTP/2: the connection ends after nghttp2's last frames are written.
    private var isBroken = false
    /// Is `true` when nothing is read or answered any more.
    private(set) var isLost = false
    private(set) var requests = 0
    private var providerTokens = ProviderTokenPast()
    /// Number of requests after which the connection is wedged; `nil` for never.
    private let wedgesAfter: Int?
    var isWedged: Bool { wedgesAfter.map { requests > $0 } ?? false }
    /// Bytes that may be read before the next tick, negative after a large read; `nil` for no limit.
    private var mayStillRead: Int?
    var hasCarriedRequests: Bool { requests > 0 }

    var expected: Expected { owner.service.expected }

    init(
        id: UInt32, owner: any ConnectionOwner, tcp: TCPStream, context: TLSContext, wedgesAfter: Int?
    ) throws(LoopError) {
        self.id = id
        self.owner = owner
        self.wedgesAfter = wedgesAfter
        mayStillRead = owner.bytesPerTick
        stream = try TLSStream(accepting: tcp, context: context)
        stream.onReady = { [unowned self] in ready($0) }
        stream.onRead = { [unowned self] in read($0) }
        stream.onDrain = { [unowned self] in drained() }
        stream.onClose = { [unowned self] _ in closed() }
    }

    private func ready(_ alpn: String?) {
        do {
            guard alpn == "h2" else { throw SessionError(description: "the client does not speak h2 (ALPN)") }
            session = try Session(
                settings: owner.sessions.settings(of: id), memory: owner.sessions.memory, handler: self)
            owner.hasOutput(self)
        } catch {
            owner.report("\(stream.peer): \(error)")
            close()
        }
    }

    private func read(_ bytes: UnsafeRawBufferPointer) {
        guard !isLost, let session else { return }
        owner.readClock()
        if let left = mayStillRead {
            mayStillRead = left - bytes.count
            if left - bytes.count <= 0 { stream.pauseReading() }
        }
        do { try session.receive(bytes) } catch {
            owner.report("\(stream.peer): \(error)")
            isBroken = true
        }
        owner.hasOutput(self)
    }

    /// Writes the session's output. Called once per turn if bytes were read or an answer was due.
    func writeOutput() {
        guard !isLost, let session, !stream.isClosed else { return }
        output.removeAll(keepingCapacity: true)
        do { try session.takeOutput(into: &output) } catch {
            owner.report("\(stream.peer): \(error)")
            return close()
        }
        if !output.isEmpty { stream.write(output) }
        if isBroken || session.isFinished || (session.isGoingAway && session.isIdle) { return end() }
        if stream.writeQueueBytes > Connection.unreadBytesMax, !isReadingPaused {
            isReadingPaused = true
            stream.pauseReading()
        }
    }

    private func drained() {
        session?.outputLeft()
        guard isReadingPaused, !isLost else { return }
        isReadingPaused = false
        if mayStillRead ?? 1 > 0 { stream.resumeReading() }
    }

    /// Adds a tick's bytes to the allowance of a slow reader.
    func mayRead(_ bytes: Int?) {
        guard let bytes, let left = mayStillRead, !isLost else { return }
        mayStillRead = min(bytes, left + bytes)
        if left <= 0, left + bytes > 0, !isReadingPaused { stream.resumeReading() }
    }

    // MARK: - SessionHandler

    func checkProviderToken(_ value: UnsafeRawBufferPointer) -> Answer? {
        owner.service.checkProviderToken(value, after: &providerTokens, at: owner.now)
    }

    func receive(_ head: RequestHead, body: [UInt8], stream: Int32) -> Reception {
        requests += 1
        if let wedgesAfter, requests == wedgesAfter + 1 { owner.service.countWedged() }
        return owner.receive(head, body: body, stream: stream, on: self)
    }

    func answerLost(_ entry: EntryIndex?) { owner.answerLost(entry) }

    // MARK: - Ends

    func answerNow(_ stream: Int32) {
        guard !isLost, let session else { return }
        session.answerNow(stream)
        owner.hasOutput(self)
    }

    func goAway() { session?.goAway(reason: "Shutdown") }

    func change(_ settings: SessionSettings) {
        guard !isLost, let session else { return }
        session.change(streamsMax: settings.streamsMax, window: settings.window)
        owner.hasOutput(self)
    }

    /// Makes the connection half-open: bytes from the client are read from the network and ignored until the client closes.
    func fallSilent() {
        guard !isLost else { return }
        owner.service.countSilence()
        isLost = true
        session?.lose(outputLeaves: true)
    }

    /// Loses the connection: requests that were read stay read, and their answers that have not left never will. Answers that
    /// have left do arrive: the connection is closed in order behind them, so that `unanswered` in the dump is exact. Further
    /// bytes from the client are not read as requests.
    func lose() {
        guard !isLost else { return }
        owner.service.countLostConnection()
        end()
    }

    private func end() {
        isLost = true
        session?.lose(outputLeaves: true)
        stream.resumeReading()
        stream.finish()
        owner.linger(self)
    }

    func close() {
        stream.close()
        closed()
    }

    private func closed() {
        if !isLost {
            isLost = true
            session?.lose(outputLeaves: false)
        }
        owner.gone(self)
    }
}
