/// Responses: header blocks and bodies.
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
        headerBlock.begin(payload.extracting(content), stream: header.stream, endsStream: endsStream)
    }

    mutating func receiveContinuation(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) {
        // The encoded form of a list within its limit is hardly longer than the list, even if Huffman expands odd bytes.
        try headerBlock.append(payload, bytesMax: 2 * configuration.headerListMax)
        guard header.has(FrameFlag.endHeaders) else { return }
        let block = headerBlock.take()
        try receiveBlock(block.span, stream: header.stream, endsStream: headerBlock.endsStream)
        headerBlock.giveBack(block)
    }

    private mutating func receiveBlock(
        _ block: Span<UInt8>, stream id: UInt32, endsStream: Bool
    ) throws(ConnectionError) {
        // Blocks of closed streams are decoded too, because the dynamic table must see every block.
        do {
            try decoder.decode(block)
        } catch {
            throw ConnectionError(code: .compressionError, text: error.text)
        }
        guard let position = streams.position(of: id) else { return try flood.countIdleFrame() }
        guard !decoder.list.isOverLimit else { return reset(position, .enhanceYourCalm) }
        let hasHead = streams.isPartial(position) && streams[partial: position].status != 0
        guard !hasHead else {
            // Trailers; none of their fields is used.
            guard endsStream, ResponseHead.isWellFormedTrailer(decoder.list) else {
                return reset(position, .protocolError)
            }
            return finish(position)
        }
        guard let head = ResponseHead(decoder.list.bytes.span, decoder.list.fields.span) else {
            return reset(position, .protocolError)
        }
        if head.isInterim {
            guard !endsStream else { return reset(position, .protocolError) }
            return try flood.countIdleFrame()
        }
        let fields = decoder.list.bytes
        let apnsID = head.apnsID?.value ?? 0..<0
        if endsStream, !streams.isPartial(position) {
            // Nearly every answer is complete in one frame, and so is its request.
            guard head.contentLength ?? 0 == 0 else { return reset(position, .protocolError) }
            return report(
                Response(
                    stream: id, tag: streams[position].tag, status: head.status, body: .none, bodyIsCut: false,
                    apnsID: events.store(fields.span.extracting(apnsID))),
                position)
        }
        streams[partial: position].status = head.status
        streams[partial: position].contentLength = head.contentLength
        streams[partial: position].answerBytes.append(fields.span.extracting(apnsID))
        streams[partial: position].apnsIDCount = apnsID.count
        if endsStream { finish(position) }
    }

    // MARK: Bodies

    mutating func receiveData(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) {
        let open = try openStream(header, "DATA")
        try own.receive(payload.count)
        let content = try unpadded(header, payload)
        let renewal = own.renewal()
        if renewal > 0 { output.appendWindowUpdate(renewal, stream: 0) }
        let endsStream = header.has(FrameFlag.endStream)
        guard let position = open else { return try flood.countIdleFrame() }
        if content.isEmpty, !endsStream { try flood.countIdleFrame() }
        guard streams.isPartial(position), streams[partial: position].status != 0 else {
            return reset(position, .protocolError)
        }
        streams[position].receiveWindow -= payload.count
        guard streams[position].receiveWindow >= 0 else { return reset(position, .flowControlError) }

        let room = configuration.bodyMax - streams[partial: position].bodyCount
        streams[partial: position].bodyCount += content.count
        if content.count > room {
            streams[partial: position].answerBytes.append(
                payload.extracting(content.lowerBound..<content.lowerBound + room))
            return finish(position, bodyIsCut: true)
        }
        streams[partial: position].answerBytes.append(payload.extracting(content))
        if endsStream { return finish(position) }
        if streams[position].receiveWindow < FlowControl.defaultWindow / 2 {
            output.appendWindowUpdate(
                FlowControl.defaultWindow - streams[position].receiveWindow, stream: header.stream)
            streams[position].receiveWindow = FlowControl.defaultWindow
        }
    }

    /// Finishes an answer that arrived in several frames, when it is complete or has reached `bodyMax`.
    private mutating func finish(_ position: Int, bodyIsCut: Bool = false) {
        let announced = streams[partial: position].contentLength
        if !bodyIsCut, let announced, announced != streams[partial: position].bodyCount {
            return reset(position, .protocolError)
        }
        let id = streams[position].id
        // The answer came early: the rest of the request is useless.
        if bodyIsCut || !streams[partial: position].unsent.isEmpty { output.appendReset(.cancel, stream: id) }
        let answerBytes = streams[partial: position].answerBytes
        let apnsIDCount = streams[partial: position].apnsIDCount
        report(
            Response(
                stream: id, tag: streams[position].tag, status: streams[partial: position].status,
                body: events.store(answerBytes.span.extracting(apnsIDCount...)), bodyIsCut: bodyIsCut,
                apnsID: events.store(answerBytes.span.extracting(..<apnsIDCount))),
            position)
    }

    private mutating func report(_ response: Response, _ position: Int) {
        events.events.append(.response(response))
        streams.close(position)
        flood.answerArrived()
    }

    /// Returns the range of a payload's content without padding (RFC 9113 §6.1).
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

/// Fields of a response's header block, if it is well formed (RFC 9113 §8.1–8.3).
struct ResponseHead {
    private(set) var status = 0
    private(set) var contentLength: Int?
    private(set) var apnsID: HeaderList.Field?

    var isInterim: Bool { status < 200 }

    init?(_ bytes: Span<UInt8>, _ fields: Span<HeaderList.Field>) {
        var regularSeen = false
        for index in fields.indices {
            let field = fields[index]
            let name = bytes.extracting(field.name)
            let value = bytes.extracting(field.value)
            if name.count > 0, name[0] == UInt8(ascii: ":") {
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
                guard contentLength == nil, let number = ResponseHead.number(value) else { return nil }
                contentLength = number
            }
        }
        guard status != 0 else { return nil }
    }

    static func isWellFormedTrailer(_ list: HeaderList) -> Bool {
        let bytes = list.bytes.span
        return list.fields.allSatisfy {
            isAllowed(bytes.extracting($0.name)) && isAllowed(value: bytes.extracting($0.value))
        }
    }

    private static func number(_ digits: Span<UInt8>) -> Int? {
        // A number of eighteen digits cannot overflow.
        guard 1...18 ~= digits.count else { return nil }
        var number = 0
        for index in digits.indices {
            guard 48...57 ~= digits[index] else { return nil }
            number = number * 10 + Int(digits[index] - 48)
        }
        return number
    }

    private static func matches(_ name: Span<UInt8>, _ text: StaticString) -> Bool {
        // Lengths differ nearly always, and comparing them is cheap.
        guard name.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            for index in text.indices where unsafe text[index] != name[index] { return false }
            return true
        }
    }

    private static func isAllowed(_ name: Span<UInt8>) -> Bool {
        guard name.count > 0 else { return false }
        // The loop checks all bytes without an early exit, so the optimiser vectorises it.
        var isAllowed = true
        for index in name.indices {
            let byte = name[index]
            let isUpper = byte &- 0x41 < 26
            isAllowed = isAllowed && !(byte <= 0x20 || byte >= 0x7f || isUpper || byte == UInt8(ascii: ":"))
        }
        return isAllowed && !isOfConnection(name)
    }

    /// Returns `true` for fields of HTTP/1.1 that HTTP/2 forbids (§8.2.2).
    private static func isOfConnection(_ name: Span<UInt8>) -> Bool {
        switch name.count {
        case 7: matches(name, "upgrade")
        case 10: matches(name, "connection") || matches(name, "keep-alive")
        case 16: matches(name, "proxy-connection")
        case 17: matches(name, "transfer-encoding")
        default: false
        }
    }

    private static func isAllowed(value: Span<UInt8>) -> Bool {
        var isAllowed = true
        for index in value.indices {
            let byte = value[index]
            isAllowed = isAllowed && !(byte == 0 || byte == 0x0a || byte == 0x0d)
        }
        return isAllowed
    }
}
