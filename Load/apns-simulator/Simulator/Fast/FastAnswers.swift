internal import FanfareHTTP2

/// Answers of a fast session: given at once, after the simulated round trip, or when the client's window
/// has room for the reason. Owned by its session.
struct FastAnswers: ~Copyable {
    private struct Waiting {
        let stream: UInt32
        let answer: Answer
        /// Due time in milliseconds on the session's clock.
        let due: UInt32
    }

    private let latencyMilliseconds: UInt32
    private let deadSince: Int64
    /// Answers by due time; those before `waitingFrom` have been given.
    private var waiting: [Waiting] = []
    private var waitingFrom = 0
    /// Answers whose body does not fit into the client's window.
    private var blocked: [(stream: UInt32, answer: Answer)] = []
    private var sendWindow = FlowControl.defaultWindow
    var peerInitialWindow = FlowControl.defaultWindow
    /// Is `true` while the client's decoder, which allows less than HTTP/2's default table, has not
    /// been told that no table is used (RFC 7541 §4.2).
    var owesSizeUpdate = false

    /// - Parameter deadSince: time in a 410 answer, in milliseconds.
    init(latencyMilliseconds: UInt32, deadSince: Int64) {
        self.latencyMilliseconds = latencyMilliseconds
        self.deadSince = deadSince
    }

    /// Number of answers decided and not yet given.
    var toCome: Int { waiting.count - waitingFrom + blocked.count }
    var isWaiting: Bool { waiting.count > waitingFrom }

    /// - Parameter now: milliseconds; never goes back.
    mutating func add(_ answer: Answer, to stream: UInt32, at now: UInt32, into output: inout OutputBuffer) {
        if latencyMilliseconds == 0 {
            give(answer, to: stream, into: &output)
        } else {
            waiting.append(Waiting(stream: stream, answer: answer, due: now &+ latencyMilliseconds))
        }
    }

    /// Gives the answers that are due.
    mutating func giveDue(at now: UInt32, into output: inout OutputBuffer) {
        while waitingFrom < waiting.count, waiting[waitingFrom].due <= now {
            give(waiting[waitingFrom].answer, to: waiting[waitingFrom].stream, into: &output)
            waitingFrom += 1
        }
        // Given answers are removed when they are at least half, so each answer is moved once on average.
        if 2 * waitingFrom >= waiting.count {
            waiting.removeFirst(waitingFrom)
            waitingFrom = 0
        }
    }

    /// Takes the client's WINDOW_UPDATE for the connection. Returns `false` if the window overflows.
    mutating func widen(by increment: Int) -> Bool {
        sendWindow += increment
        return sendWindow <= FlowControl.windowMax
    }

    /// Gives the answers that the window held back, as far as it has room now.
    mutating func giveBlocked(into output: inout OutputBuffer) {
        guard !blocked.isEmpty else { return }
        let answers = blocked
        blocked = []
        for (stream, answer) in answers { give(answer, to: stream, into: &output) }
    }

    /// Drops the answers to a stream that the client has reset. Rare, and bounded by the streams that may be open.
    /// - Returns: number of answers dropped.
    mutating func drop(_ stream: UInt32) -> Int {
        let before = toCome
        guard before > 0 else { return 0 }
        waiting.removeAll { $0.stream == stream }
        blocked.removeAll { $0.stream == stream }
        return before - toCome
    }

    private mutating func give(_ answer: Answer, to stream: UInt32, into output: inout OutputBuffer) {
        guard answer == .accepted else { return refuse(answer, stream, into: &output) }
        output.appendHeader(
            length: owesSizeUpdate ? 2 : 1, type: FrameType.headers,
            flags: FrameFlag.endHeaders | FrameFlag.endStream, stream: stream)
        appendSizeUpdate(to: &output)
        output.append(0x88)  // `:status 200` in the static table
    }

    private mutating func refuse(_ answer: Answer, _ stream: UInt32, into output: inout OutputBuffer) {
        let body = answer.body(deadSince: deadSince)
        // A window that can never hold the body gets the status alone.
        let isMute = peerInitialWindow < body.count
        guard isMute || body.count <= sendWindow else { return blocked.append((stream, answer)) }
        let status = answer.statusText
        output.appendHeader(
            length: (owesSizeUpdate ? 3 : 2) + status.utf8CodeUnitCount, type: FrameType.headers,
            flags: isMute ? FrameFlag.endHeaders | FrameFlag.endStream : FrameFlag.endHeaders, stream: stream)
        appendSizeUpdate(to: &output)
        output.append(0x08)  // a literal without indexing, named `:status` by the static table
        output.append(UInt8(status.utf8CodeUnitCount))
        status.withUTF8Buffer { output.append($0.span) }
        guard !isMute else { return }
        sendWindow -= body.count
        output.appendHeader(length: body.count, type: FrameType.data, flags: FrameFlag.endStream, stream: stream)
        output.append(body)
    }

    private mutating func appendSizeUpdate(to output: inout OutputBuffer) {
        guard owesSizeUpdate else { return }
        owesSizeUpdate = false
        output.append(0x20)
    }
}
