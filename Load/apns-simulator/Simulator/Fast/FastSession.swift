internal import FanfareHTTP2

/// One connection's HTTP/2 server for load: bytes in, requests to the service, bytes out. It reads everything that a client may send,
/// decodes every header block, keeps the windows, and does nothing else per request. Knows nothing of sockets.
///
/// Confined to the simulator's loop.
final class FastSession {
    struct Settings {
        /// SETTINGS_MAX_CONCURRENT_STREAMS.
        var streamsMax = 1000
        /// Delay of each answer.
        var latencyMilliseconds: UInt32 = 0
        /// Window of the connection, at least 65,535 bytes. The default holds the bodies of all
        /// streams many times over, so no client waits for it.
        var window = 1 << 24
        /// Time in a 410 answer, in milliseconds.
        var deadSince: Int64 = 0
    }

    /// A request whose end has not arrived.
    private struct Request {
        let stream: UInt32
        /// Fingerprint of the token.
        let token: UInt64
        let refusal: Answer?
        var bodyBytes = 0
        /// Bytes used of the stream's window.
        var windowUsed = 0
    }

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private static let headerListMax = 8000
    /// Most bytes of one header block, over all its frames.
    private static let headerBlockMax = 16_384
    /// Number of header blocks remembered; the oldest is evicted.
    private static let knownHeadersMax = 8

    private let settings: Settings
    private let service: FastService
    private var decoder = HeaderDecoder(tableCapacity: HPACK.defaultTableSize, listLimit: FastSession.headerListMax)
    /// Generation of the decoder's table, copied because reading it copies the decoder.
    private var tableGeneration: UInt64 = 0
    private var knownHeaders: [KnownHeaders] = []
    /// Index of the block that matched last, which is tried first.
    private var lastKnown = 0
    private var path: [UInt8] = []
    private var token = [UInt8](repeating: 0, count: DevicePath.tokenBytesMax)

    private var prefaceBytesRead = 0
    private var settingsReceived = false
    private(set) var isClosed = false
    private var frames = FrameReader()
    /// Header block that CONTINUATION frames continue.
    private var partialBlock: (stream: UInt32, endsStream: Bool, bytes: [UInt8])?

    private var highestStream: UInt32 = 0
    /// The latest request. Bodies follow their heads, so the next DATA frame nearly always belongs to it.
    private var current: Request?
    /// Further open requests, of a client that waits for a window or writes requests side by side.
    private var others: [UInt32: Request] = [:]
    private var answers: FastAnswers

    private var receiveWindow: Int
    private var output = OutputBuffer(capacity: 4096)

    init(settings: Settings, service: FastService) {
        self.settings = settings
        self.service = service
        answers = FastAnswers(latencyMilliseconds: settings.latencyMilliseconds, deadSince: settings.deadSince)
        output.appendSettings([
            (SettingID.maxConcurrentStreams, UInt32(settings.streamsMax)),
            (SettingID.maxHeaderListSize, UInt32(FastSession.headerListMax)),
        ])
        receiveWindow = settings.window
        if settings.window > FlowControl.defaultWindow {
            output.appendWindowUpdate(settings.window - FlowControl.defaultWindow, stream: 0)
        }
    }

    /// Number of requests that have begun and are not answered.
    private var openStreams: Int { (current == nil ? 0 : 1) + others.count + answers.toCome }
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
            try decode(block)
            guard let request = take(stream) else {
                // The stream was reset or refused while the block was on its way.
                return
            }
            try require(endsStream, .protocolError, "trailers that do not end stream \(stream)")
            return finish(request, now)
        }
        highestStream = stream
        guard let (path, refusal) = try readHead(block) else {
            return output.appendReset(.protocolError, stream: stream)
        }
        guard openStreams < settings.streamsMax else { return output.appendReset(.refusedStream, stream: stream) }
        let request: Request
        switch path {
        case .device(let count):
            let fingerprint = token.withUnsafeBytes { Fingerprint(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            request = Request(stream: stream, token: fingerprint.low, refusal: refusal)
        case .foreign: request = Request(stream: stream, token: 0, refusal: refusal ?? .badPath)
        case .withoutToken: request = Request(stream: stream, token: 0, refusal: refusal ?? .missingDeviceToken)
        case .badToken: request = Request(stream: stream, token: 0, refusal: refusal ?? .badDeviceToken)
        }
        if endsStream { return finish(request, now) }
        if let current { others[current.stream] = current }
        current = request
    }

    /// Returns the path of a head and its other fault, if any; `nil` if the block is not a request.
    private func readHead(_ block: Span<UInt8>) throws(ConnectionError) -> (DevicePath, refusal: Answer?)? {
        for attempt in 0..<knownHeaders.count {
            let index = attempt == 0 ? lastKnown : attempt <= lastKnown ? attempt - 1 : attempt
            guard let literal = knownHeaders[index].path(in: block, generation: tableGeneration) else { continue }
            lastKnown = index
            return try (readPath(block.extracting(literal.range), literal.isHuffman), knownHeaders[index].refusal)
        }
        let before = tableGeneration
        try decode(block)
        guard let (path, refusal) = readFields() else { return nil }
        if tableGeneration == before, let known = KnownHeaders(block, generation: before, refusal: refusal) {
            if knownHeaders.count == FastSession.knownHeadersMax { knownHeaders.removeFirst() }
            knownHeaders.append(known)
            lastKnown = knownHeaders.count - 1
        }
        return (path, refusal)
    }

    private func decode(_ block: Span<UInt8>) throws(ConnectionError) {
        do throws(HPACKError) { try decoder.decode(block) } catch {
            throw ConnectionError(code: .compressionError, text: error.text)
        }
        tableGeneration = decoder.generation
    }

    private func readPath(_ literal: Span<UInt8>, _ isHuffman: Bool) throws(ConnectionError) -> DevicePath {
        guard isHuffman else { return literal.withUnsafeBytes { DevicePath.read($0, into: &token) } }
        path.removeAll(keepingCapacity: true)
        do throws(HPACKError) { try Huffman.decode(literal, into: &path) } catch {
            throw ConnectionError(code: .compressionError, text: error.text)
        }
        return path.withUnsafeBytes { DevicePath.read($0, into: &token) }
    }

    /// Reads path and fault from the decoded list.
    private func readFields() -> (DevicePath, refusal: Answer?)? {
        guard !decoder.list.isOverLimit else { return nil }
        var found: DevicePath?
        var isPost: Bool?
        for field in decoder.list.fields {
            let name = decoder.list.name(field)
            if name.elementsEqual(":path".utf8) {
                guard found == nil else { return nil }
                found = Array(decoder.list.value(field)).withUnsafeBytes { DevicePath.read($0, into: &token) }
            } else if name.elementsEqual(":method".utf8) {
                guard isPost == nil else { return nil }
                isPost = decoder.list.value(field).elementsEqual("POST".utf8)
            }
        }
        guard let found, let isPost else { return nil }
        return (found, isPost ? nil : .methodNotAllowed)
    }

    private func receiveData(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ now: UInt32
    ) throws(ConnectionError) {
        try requireBegun(header)
        receiveWindow -= header.length
        try require(receiveWindow >= 0, .flowControlError, "\(header.length) bytes of DATA overrun the window")
        let count = try unpadded(header, payload).count
        // Without a request, the stream was reset, refused or answered while this frame was on its way.
        guard var request = take(header.stream) else { return }
        request.bodyBytes += count
        guard !header.has(FrameFlag.endStream) else { return finish(request, now) }
        request.windowUsed += header.length
        if request.windowUsed > FlowControl.defaultWindow / 2 {
            // A body of this size is refused, but its client may want to send it to the end.
            output.appendWindowUpdate(request.windowUsed, stream: header.stream)
            request.windowUsed = 0
        }
        if let current { others[current.stream] = current }
        current = request
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

    /// Removes and returns an open request; `nil` if the stream has none.
    private func take(_ stream: UInt32) -> Request? {
        if let request = current, request.stream == stream {
            current = nil
            return request
        }
        return others.isEmpty ? nil : others.removeValue(forKey: stream)
    }

    private func finish(_ request: Request, _ now: UInt32) {
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
        guard take(header.stream) == nil else { return }
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
