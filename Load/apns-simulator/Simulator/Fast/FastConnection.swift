internal import FanfareLoop
internal import ServerTestSupport

/// The simulator as its connections see it.
protocol FastConnectionOwner: AnyObject {
    var service: FastService { get }

    /// Reads the clock. Returns milliseconds since the start.
    func readClock() -> UInt32
    func hasOutput(_ connection: FastConnection)
    func startAnswering()
    func linger(_ connection: FastConnection)
    func gone(_ connection: FastConnection, unanswered: Int)
    func report(_ text: String)
}

/// One client's connection to a fast simulator. Confined to the simulator's loop.
final class FastConnection {
    /// Most unread answer bytes: a client that does not read its answers is not read from either.
    private static let unreadBytesMax = 1 << 20

    let id: UInt32
    private unowned let owner: any FastConnectionOwner
    private let stream: TLSStream
    private let session: FastSession
    private var isReady = false
    private var isReadingPaused = false
    private var isEnding = false
    private var isListed = false

    init(
        id: UInt32, owner: any FastConnectionOwner, tcp: TCPStream, context: TLSContext, settings: FastSettings
    ) throws(LoopError) {
        self.id = id
        self.owner = owner
        session = FastSession(settings: settings, service: owner.service)
        stream = try TLSStream(accepting: tcp, context: context)
        stream.onReady = { [unowned self] in ready($0) }
        stream.onRead = { [unowned self] in read($0) }
        stream.onDrain = { [unowned self] in drained() }
        stream.onClose = { [unowned self] _ in closed() }
    }

    private func ready(_ alpn: String?) {
        guard alpn == "h2" else {
            owner.report("\(stream.peer): the client does not speak h2 (ALPN)")
            return close()
        }
        isReady = true
        listOutput()
    }

    private func read(_ bytes: UnsafeRawBufferPointer) {
        guard !isEnding else { return }
        if let fault = session.receive(bytes, at: owner.readClock()) {
            owner.report("\(stream.peer): \(fault)")
        }
        if session.isWaiting { owner.startAnswering() }
        listOutput()
    }

    /// Gives the answers that are due. Returns `true` if more wait.
    func answerWaiting(at now: UInt32) -> Bool {
        guard session.isWaiting, !session.isClosed else { return false }
        session.answerWaiting(at: now)
        listOutput()
        return session.isWaiting
    }

    private func listOutput() {
        guard !isListed else { return }
        isListed = true
        owner.hasOutput(self)
    }

    /// Writes the session's output. Called once per turn if bytes were read or an answer was due.
    func writeOutput() {
        isListed = false
        guard isReady, !isEnding, !stream.isClosed else { return }
        session.takeOutput { stream.write($0) }
        if session.isClosed {
            isEnding = true
            stream.finish()
            return owner.linger(self)
        }
        if stream.writeQueueBytes > FastConnection.unreadBytesMax, !isReadingPaused {
            isReadingPaused = true
            stream.pauseReading()
        }
    }

    private func drained() {
        guard isReadingPaused, !isEnding else { return }
        isReadingPaused = false
        stream.resumeReading()
    }

    func close() {
        stream.close()
        closed()
    }

    private func closed() { owner.gone(self, unanswered: session.answersToCome) }
}
