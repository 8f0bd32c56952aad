/// Answers: header blocks and bodies.
extension ClientSession {
    // MARK: Header blocks

    mutating func receiveHeaders(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) {
        _ = try openStream(header, "HEADERS")
        var content = try unpadded(header, payload)
        if header.has(FrameFlag.priority) {
            guard content.count >= 5 else {
                throw ConnectionError(code: .frameSizeError, text: "HEADERS too short for the priority it announces")
            }
            content = 5 + content.lowerBound..<content.upperBound
        }
        let endsStream = header.has(FrameFlag.endStream)
        if header.has(FrameFlag.endHeaders) {
            return try receiveBlock(payload.extracting(content), stream: header.stream, endsStream: endsStream)
        }
        headerBlock.removeAll(keepingCapacity: true)
        headerBlock.append(payload.extracting(content))
        headerBlockStream = header.stream
        headerBlockEndsStream = endsStream
        continuations = 0
    }

    mutating func receiveContinuation(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) {
        guard headerBlockStream != 0 else {
            throw ConnectionError(code: .protocolError, text: "CONTINUATION without HEADERS before it")
        }
        continuations += 1
        // A list within its limit is hardly longer encoded than decoded, whatever Huffman does to odd bytes.
        let blockMax = 2 * configuration.headerListMax
        guard continuations <= ClientSession.continuationsMax, headerBlock.count + payload.count <= blockMax else {
            throw ConnectionError(
                code: .enhanceYourCalm,
                text: "header block of \(headerBlock.count + payload.count) bytes in \(continuations + 1) frames")
        }
        headerBlock.append(payload)
        guard header.has(FrameFlag.endHeaders) else { return }
        headerBlockStream = 0
        var block: [UInt8] = []
        swap(&block, &headerBlock)
        try receiveBlock(block.span, stream: header.stream, endsStream: headerBlockEndsStream)
        swap(&block, &headerBlock)
    }

    private mutating func receiveBlock(
        _ block: Span<UInt8>, stream id: UInt32, endsStream: Bool
    ) throws(ConnectionError) {
        // Decoded even when nobody waits for it: the dynamic table must see every block.
        do {
            try decoder.decode(block)
        } catch {
            throw ConnectionError(code: .compressionError, text: error.text)
        }
        guard let position = streams.position(of: id) else { return try countIdleFrame() }
        guard !decoder.list.isOverLimit else { return reset(position, .enhanceYourCalm) }
        if streams[position].status == 0 {
            guard let head = ResponseHead(decoder.list) else { return reset(position, .protocolError) }
            if head.isInterim {
                guard !endsStream else { return reset(position, .protocolError) }
                return try countIdleFrame()
            }
            streams[position].status = head.status
            streams[position].contentLength = head.contentLength
            if let field = head.apnsID {
                let value = decoder.list.value(field)
                streams[position].held.append(contentsOf: value)
                streams[position].apnsIDCount = value.count
            }
        } else {
            // Trailers, of which we need nothing.
            guard endsStream, ResponseHead.isWellFormedTrailer(decoder.list) else {
                return reset(position, .protocolError)
            }
        }
        if endsStream { finish(position) }
    }

    // MARK: Bodies

    mutating func receiveData(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) {
        let open = try openStream(header, "DATA")
        // Padding counts, and so does what is for closed streams (RFC 9113 §6.9).
        receiveWindow -= payload.count
        guard receiveWindow >= 0 else {
            throw ConnectionError(
                code: .flowControlError, text: "\(-receiveWindow) bytes of DATA beyond the connection's window")
        }
        let content = try unpadded(header, payload)
        if receiveWindow < configuration.receiveWindow / 2 {
            output.appendWindowUpdate(configuration.receiveWindow - receiveWindow, stream: 0)
            receiveWindow = configuration.receiveWindow
        }
        let endsStream = header.has(FrameFlag.endStream)
        guard let position = open else { return try countIdleFrame() }
        if content.isEmpty, !endsStream { try countIdleFrame() }
        guard streams[position].status != 0 else { return reset(position, .protocolError) }
        streams[position].receiveWindow -= payload.count
        guard streams[position].receiveWindow >= 0 else { return reset(position, .flowControlError) }

        let room = configuration.bodyMax - streams[position].bodyCount
        streams[position].bodyCount += content.count
        if content.count > room {
            streams[position].held.append(payload.extracting(content.lowerBound..<content.lowerBound + room))
            return finish(position, bodyIsCut: true)
        }
        streams[position].held.append(payload.extracting(content))
        if endsStream { return finish(position) }
        if streams[position].receiveWindow < FlowControl.defaultWindow / 2 {
            output.appendWindowUpdate(
                FlowControl.defaultWindow - streams[position].receiveWindow, stream: header.stream)
            streams[position].receiveWindow = FlowControl.defaultWindow
        }
    }

    /// The answer is complete, or complete enough.
    private mutating func finish(_ position: Int, bodyIsCut: Bool = false) {
        if !bodyIsCut, let announced = streams[position].contentLength, announced != streams[position].bodyCount {
            return reset(position, .protocolError)
        }
        let id = streams[position].id
        // An early answer: the rest of the request is of no use any more.
        if bodyIsCut || !streams[position].unsent.isEmpty { output.appendReset(.cancel, stream: id) }
        let apnsIDCount = streams[position].apnsIDCount
        let response = Response(
            stream: id, tag: streams[position].tag, status: streams[position].status,
            body: events.store(streams[position].held[apnsIDCount...]), bodyIsCut: bodyIsCut,
            apnsID: events.store(streams[position].held[..<apnsIDCount]))
        events.events.append(.response(response))
        streams.close(position)
        idleFrames = 0
    }

    /// Where in a payload the content stands between padding (RFC 9113 §6.1).
    private func unpadded(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) -> Range<Int> {
        guard header.has(FrameFlag.padded) else { return 0..<payload.count }
        guard payload.count > 0 else {
            throw ConnectionError(code: .frameSizeError, text: "padded frame without a padding length")
        }
        let padding = Int(payload[0])
        guard padding < payload.count else {
            throw ConnectionError(
                code: .protocolError, text: "padding of \(padding) bytes in a frame of \(payload.count)")
        }
        return 1..<payload.count - padding
    }
}

/// What a response's header block says, if it is well formed (RFC 9113 §8.1–8.3).
struct ResponseHead {
    private(set) var status = 0
    private(set) var contentLength: Int?
    private(set) var apnsID: HeaderList.Field?

    var isInterim: Bool { status < 200 }

    init?(_ list: HeaderList) {
        var regularSeen = false
        for field in list.fields {
            let name = list.name(field)
            let value = list.value(field)
            if name.first == UInt8(ascii: ":") {
                guard !regularSeen, status == 0, ResponseHead.matches(name, ":status"), value.count == 3,
                    let number = ResponseHead.number(value), 100...599 ~= number, number != 101
                else { return nil }
                status = number
                continue
            }
            regularSeen = true
            guard ResponseHead.isAllowed(name), ResponseHead.isAllowed(value: value) else { return nil }
            if ResponseHead.matches(name, "apns-id") {
                apnsID = field
            } else if ResponseHead.matches(name, "content-length") {
                guard let number = ResponseHead.number(value), contentLength ?? number == number else { return nil }
                contentLength = number
            }
        }
        guard status != 0 else { return nil }
    }

    static func isWellFormedTrailer(_ list: HeaderList) -> Bool {
        list.fields.allSatisfy { isAllowed(list.name($0)) && isAllowed(value: list.value($0)) }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        // Eighteen digits cannot overflow.
        guard 1...18 ~= digits.count, digits.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    private static func matches(_ name: ArraySlice<UInt8>, _ text: StaticString) -> Bool {
        // Lengths differ nearly always, and looking at them costs nothing.
        name.count == text.utf8CodeUnitCount && text.withUTF8Buffer { name.elementsEqual($0) }
    }

    /// Fields that HTTP/1.1 needs and HTTP/2 forbids (§8.2.2).
    private static let connectionFields: [StaticString] = [
        "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade",
    ]

    private static func isAllowed(_ name: ArraySlice<UInt8>) -> Bool {
        guard !name.isEmpty else { return false }
        for byte in name where byte <= 0x20 || byte >= 0x7f || 0x41...0x5a ~= byte || byte == UInt8(ascii: ":") {
            return false
        }
        return !connectionFields.contains { matches(name, $0) }
    }

    private static func isAllowed(value: ArraySlice<UInt8>) -> Bool {
        !value.contains { $0 == 0 || $0 == 0x0a || $0 == 0x0d }
    }
}
