internal import FanfareHTTP2

/// One connection's HTTP/2 server for load: bytes in, requests to the service, bytes out. It reads everything that a client may send,
/// decodes every header block, keeps the windows, and does nothing else per request. Knows nothing of sockets.
///
/// Confined to the simulator's loop.
final class FastSession {
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    /// Most bytes of one header block, over all its frames.
    private static let headerBlockMax = 16_384

    private let settings: FastSettings
    private let service: FastService
    private var heads = HeadReader()

    private var prefaceBytesRead = 0
    private var settingsReceived = false
    private(set) var isClosed = false
    private var frames = FrameReader()
    /// Header block that CONTINUATION frames continue.
    private var partialBlock: (stream: UInt32, endsStream: Bool, bytes: [UInt8])?

    private var highestStream: UInt32 = 0
    private var requests = OpenRequests()
    private var answers: FastAnswers

    private var receiveWindow: Int
    private var output = OutputBuffer(capacity: 4096)

    init(settings: FastSettings, service: FastService) {
        self.settings = settings
        self.service = service
        answers = FastAnswers(latencyMilliseconds: settings.latencyMilliseconds, deadSince: settings.deadSince)
        output.appendSettings([
            (SettingID.maxConcurrentStreams, UInt32(settings.streamsMax)),
            (SettingID.maxHeaderListSize, UInt32(HeadReader.listMax)),
        ])
        receiveWindow = settings.window
        if settings.window > FlowControl.defaultWindow {
            output.appendWindowUpdate(settings.window - FlowControl.defaultWindow, stream: 0)
        }
    }

    /// Number of requests that have begun and are not answered.
    private var openStreams: Int { requests.count + answers.toCome }
    /// Number of answers decided and not yet given.
    var answersToCome: Int { answers.toCome }
    /// Is `true` while answers are delayed.
    var isWaiting: Bool { answers.isWaiting }

    func takeOutput(_ body: (UnsafeRawBufferPointer) -> Void) {
        guard output.count > 0 else { return }
        output.withBytes(body)
        output.take(output.count)
    }

    /// Takes bytes from the connection, in pieces of any size. Does nothing once closed.
    /// - Parameter now: milliseconds; never goes back.
    /// - Returns: the client's fault, if any; the output then ends with a GOAWAY, and the connection is to be closed behind it.
    func receive(_ bytes: UnsafeRawBufferPointer, at now: UInt32) -> String? {
        guard !isClosed else { return nil }
        do throws(ConnectionError) {
            try receive(Span(_unsafeElements: bytes.bindMemory(to: UInt8.self)), now)
            returnWindow()
            return nil
        } catch {
            isClosed = true
            output.appendGoAway(error.code, lastStream: highestStream, debug: error.text)
            return error.text
        }
    }

    /// Gives the answers that are due.
    func answerWaiting(at now: UInt32) { answers.giveDue(at: now, into: &output) }

    // MARK: - Frames

    private func receive(_ input: Span<UInt8>, _ now: UInt32) throws(ConnectionError) {
        var position = try readPreface(input)
        if frames.isInsideFrame {
            guard let header = frames.header(from: input, &position) else { return }
            try check(header)
            guard let frame = frames.frame(header, from: input, &position) else { return }
            try process(header, frame.span.extracting(FrameHeader.count..<frame.count), now)
            frames.giveBack(consume frame)
        }
        while input.count - position >= FrameHeader.count {
            let header = FrameHeader(input.extracting(position..<position + FrameHeader.count))
            try check(header)
            let end = position + FrameHeader.count + header.length
            guard end <= input.count else { break }
            try process(header, input.extracting(position + FrameHeader.count..<end), now)
            position = end
        }
        if position < input.count { frames.keep(input.extracting(position..<input.count)) }
    }

    /// Returns the number of input bytes that belong to the preface (RFC 9113 §3.4).
    private func readPreface(_ input: Span<UInt8>) throws(ConnectionError) -> Int {
        var position = 0
        while prefaceBytesRead < FastSession.preface.count, position < input.count {
            guard input[position] == FastSession.preface[prefaceBytesRead] else {
                throw ConnectionError(code: .protocolError, text: "no HTTP/2 preface")
            }
            position += 1
            prefaceBytesRead += 1
        }
        return position
    }

    private func check(_ header: FrameHeader) throws(ConnectionError) {
        guard header.length <= FlowControl.defaultFrameSize else {
            throw ConnectionError(
                code: .frameSizeError,
                text: "frame of \(header.length) bytes, at most \(FlowControl.defaultFrameSize) are allowed")
        }
        if !settingsReceived, header.type != FrameType.settings || header.has(FrameFlag.acknowledgement) {
            throw ConnectionError(
                code: .protocolError, text: "the first frame is of type \(header.type) and not SETTINGS")
        }
        if let partialBlock, header.type != FrameType.continuation || header.stream != partialBlock.stream {
            throw ConnectionError(
                code: .protocolError, text: "frame of type \(header.type) inside the header block of another")
        }
    }

    private func process(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ now: UInt32
    ) throws(ConnectionError) {
        switch header.type {
        case FrameType.data: try receiveData(header, payload, now)
        case FrameType.headers: try receiveHeaders(header, payload, now)
        case FrameType.continuation: try receiveContinuation(header, payload, now)
        case FrameType.settings: try receiveSettings(header, payload)
        case FrameType.windowUpdate: try receiveWindowUpdate(header, payload)
        case FrameType.resetStream: try receiveReset(header)
        case FrameType.ping: try receivePing(header, payload)
        case FrameType.pushPromise:
            throw ConnectionError(code: .protocolError, text: "PUSH_PROMISE from a client")
        // PRIORITY, GOAWAY and unknown frames change nothing.
        default: break
        }
    }

    private func require(_ isRight: Bool, _ code: ErrorCode, _ text: @autoclosure () -> String) throws(ConnectionError)
    {
        guard isRight else { throw ConnectionError(code: code, text: text()) }
    }

    private func requireBegun(_ header: FrameHeader) throws(ConnectionError) {
        try require(
            header.stream % 2 == 1 && header.stream <= highestStream, .protocolError,
            "frame of type \(header.type) on stream \(header.stream), which is not open")
    }

    // MARK: - Requests

    private func receiveHeaders(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ now: UInt32
    ) throws(ConnectionError) {
        try require(header.stream % 2 == 1, .protocolError, "HEADERS on stream \(header.stream)")
        var content = try unpadded(header, payload)
        if header.has(FrameFlag.priority) {
            try require(content.count >= 5, .frameSizeError, "HEADERS of \(header.length) bytes with a priority")
            content.removeFirst(5)
        }
        let endsStream = header.has(FrameFlag.endStream)
        guard header.has(FrameFlag.endHeaders) else {
            partialBlock = (
                header.stream, endsStream, payload.extracting(content).withUnsafeBufferPointer { Array($0) }
            )
            return
        }
        try receiveBlock(payload.extracting(content), stream: header.stream, endsStream: endsStream, now)
    }

    private func receiveContinuation(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ now: UInt32
    ) throws(ConnectionError) {
        guard var block = partialBlock else {
            throw ConnectionError(code: .protocolError, text: "CONTINUATION of nothing")
        }
        partialBlock = nil
        payload.withUnsafeBufferPointer { block.bytes.append(contentsOf: $0) }
        // Empty frames could continue for ever.
        try require(
            !payload.isEmpty && block.bytes.count <= FastSession.headerBlockMax || header.has(FrameFlag.endHeaders),
            .enhanceYourCalm, "header block over \(FastSession.headerBlockMax) bytes, or an empty CONTINUATION")
        guard header.has(FrameFlag.endHeaders) else {
            partialBlock = block
            return
        }
        try receiveBlock(block.bytes.span, stream: block.stream, endsStream: block.endsStream, now)
    }

    /// Takes the head or the trailers of a request.
    private func receiveBlock(
        _ block: Span<UInt8>, stream: UInt32, endsStream: Bool, _ now: UInt32
    ) throws(ConnectionError) {
        guard stream > highestStream else {
            try heads.decode(block)
            guard let request = requests.take(stream) else {
                // The stream was reset or refused while the block was on its way.
                return
            }
            try require(endsStream, .protocolError, "trailers that do not end stream \(stream)")
            return finish(request, now)
        }
        highestStream = stream
        guard let head = try heads.read(block) else { return output.appendReset(.protocolError, stream: stream) }
        guard openStreams < settings.streamsMax else { return output.appendReset(.refusedStream, stream: stream) }
        let request = FastRequest(stream: stream, token: head.token, refusal: head.refusal)
        if endsStream { return finish(request, now) }
        requests.put(request)
    }

    private func receiveData(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ now: UInt32
    ) throws(ConnectionError) {
        try requireBegun(header)
        receiveWindow -= header.length
        try require(receiveWindow >= 0, .flowControlError, "\(header.length) bytes of DATA overrun the window")
        let count = try unpadded(header, payload).count
        // Without a request, the stream was reset, refused or answered while this frame was on its way.
        guard var request = requests.take(header.stream) else { return }
        request.bodyBytes += count
        guard !header.has(FrameFlag.endStream) else { return finish(request, now) }
        request.windowUsed += header.length
        if request.windowUsed > FlowControl.defaultWindow / 2 {
            // A body of this size is refused, but its client may want to send it to the end.
            output.appendWindowUpdate(request.windowUsed, stream: header.stream)
            request.windowUsed = 0
        }
        requests.put(request)
    }

    /// Returns the used part of the connection's window with each read, so that a client has the whole window for each round trip.
    private func returnWindow() {
        guard receiveWindow < settings.window else { return }
        output.appendWindowUpdate(settings.window - receiveWindow, stream: 0)
        receiveWindow = settings.window
    }

    /// Returns the range of the frame's content without padding (RFC 9113 §6.1).
    private func unpadded(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) -> Range<Int> {
        guard header.has(FrameFlag.padded) else { return 0..<payload.count }
        guard payload.count > 0, Int(payload[0]) < payload.count else {
            throw ConnectionError(code: .protocolError, text: "more padding than frame")
        }
        return 1..<payload.count - Int(payload[0])
    }

    private func finish(_ request: FastRequest, _ now: UInt32) {
        let answer = service.answer(token: request.token, refusal: request.refusal, bodyBytes: request.bodyBytes)
        answers.add(answer, to: request.stream, at: now, into: &output)
    }

    // MARK: - The connection

    private func receiveSettings(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) {
        try require(header.stream == 0, .protocolError, "SETTINGS on stream \(header.stream)")
        guard !header.has(FrameFlag.acknowledgement) else {
            return try require(header.length == 0, .frameSizeError, "acknowledgement of SETTINGS with a content")
        }
        try require(header.length % 6 == 0, .frameSizeError, "SETTINGS of \(header.length) bytes")
        for index in stride(from: 0, to: payload.count, by: 6) {
            let value = Int(payload.bigEndian32(at: index + 2))
            switch payload.bigEndian16(at: index) {
            case SettingID.headerTableSize:
                if value < HPACK.defaultTableSize { answers.owesSizeUpdate = true }
            case SettingID.initialWindowSize:
                try require(value <= FlowControl.windowMax, .flowControlError, "initial window of \(value) bytes")
                answers.peerInitialWindow = value
            default: break
            }
        }
        settingsReceived = true
        output.appendSettingsAcknowledgement()
        answers.giveBlocked(into: &output)
    }

    private func receiveWindowUpdate(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) {
        try require(header.length == 4, .frameSizeError, "WINDOW_UPDATE of \(header.length) bytes")
        // A stream's window is used for one short body, which fits into its initial size.
        guard header.stream == 0 else { return try requireBegun(header) }
        let increment = Int(payload.bigEndian32(at: 0) & UInt32(FlowControl.windowMax))
        try require(increment > 0, .protocolError, "WINDOW_UPDATE of 0 bytes")
        try require(answers.widen(by: increment), .flowControlError, "WINDOW_UPDATE overflows the window")
        answers.giveBlocked(into: &output)
    }

    private func receiveReset(_ header: FrameHeader) throws(ConnectionError) {
        try require(header.length == 4, .frameSizeError, "RST_STREAM of \(header.length) bytes")
        try requireBegun(header)
        guard requests.take(header.stream) == nil else { return }
        service.countUnanswered(answers.drop(header.stream))
    }

    private func receivePing(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) {
        try require(header.stream == 0, .protocolError, "PING on stream \(header.stream)")
        try require(header.length == 8, .frameSizeError, "PING of \(header.length) bytes")
        guard !header.has(FrameFlag.acknowledgement) else { return }
        let opaque = UInt64(payload.bigEndian32(at: 0)) << 32 | UInt64(payload.bigEndian32(at: 4))
        output.appendPing(opaque, acknowledges: true)
    }
}
