/// Incoming frames: split from the byte stream, checked, and dispatched.
extension ClientSession {
    /// Takes bytes from the connection, split at any position, and adds the resulting events to the batch. A closed session ignores them.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        guard state != .closed, bytes.count > 0 else { return }
        do throws(ConnectionError) {
            try unsafe receive(Span(_unsafeElements: bytes.bindMemory(to: UInt8.self)))
            // Stalled bodies are resumed once for all frames that arrived together: otherwise a peer that opens windows byte
            // by byte could make us walk over all stalled bodies for each frame.
            if stalled.windowsHaveGrown { sendStalled() }
        } catch {
            fail(error)
        }
    }

    private mutating func receive(_ input: Span<UInt8>) throws(ConnectionError) {
        var position = 0
        if frames.isInsideFrame {
            guard let header = frames.header(from: input, &position) else { return }
            try check(header)
            guard let frame = frames.frame(header, from: input, &position) else { return }
            try process(header, frame.span.extracting(FrameHeader.count..<frame.count))
            frames.giveBack(consume frame)
        }
        while input.count - position >= FrameHeader.count {
            let header = FrameHeader(input.extracting(position..<position + FrameHeader.count))
            try check(header)
            let end = position + FrameHeader.count + header.length
            guard end <= input.count else { break }
            try process(header, input.extracting(position + FrameHeader.count..<end))
            position = end
        }
        if position < input.count { frames.keep(input.extracting(position..<input.count)) }
    }

    /// Checks a frame's header before its payload has arrived.
    private func check(_ header: FrameHeader) throws(ConnectionError) {
        if !settingsReceived, header.type != FrameType.settings || header.has(FrameFlag.acknowledgement) {
            throw ConnectionError(
                code: .protocolError,
                text: "the peer's first frame is of type \(header.type) and not SETTINGS; does it speak HTTP/2?")
        }
        guard header.length <= FlowControl.defaultFrameSize else {
            throw ConnectionError(
                code: .frameSizeError,
                text: "frame of \(header.length) bytes, at most \(FlowControl.defaultFrameSize) are allowed")
        }
        if headerBlock.stream != 0,
            header.type != FrameType.continuation || header.stream != headerBlock.stream
        {
            throw ConnectionError(
                code: .protocolError,
                text: "frame of type \(header.type) on stream \(header.stream) inside the header block of stream "
                    + "\(headerBlock.stream)")
        }
    }

    private mutating func process(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) {
        switch header.type {
        case FrameType.data: try receiveData(header, payload)
        case FrameType.headers: try receiveHeaders(header, payload)
        case FrameType.continuation: try receiveContinuation(header, payload)
        case FrameType.priority: try receivePriority(header)
        case FrameType.resetStream: try receiveReset(header, payload)
        case FrameType.settings: try receiveSettings(header, payload)
        case FrameType.pushPromise:
            throw ConnectionError(code: .protocolError, text: "PUSH_PROMISE, though push is disabled")
        case FrameType.ping: try receivePing(header, payload)
        case FrameType.goAway: try receiveGoAway(header, payload)
        case FrameType.windowUpdate: try receiveWindowUpdate(header, payload)
        default: try flood.countIdleFrame()
        }
    }

    // MARK: Rules that several frames share

    func require(
        _ header: FrameHeader, length: Int, _ name: StaticString
    ) throws(ConnectionError) {
        guard header.length == length else {
            throw ConnectionError(
                code: .frameSizeError, text: "\(name) of \(header.length) bytes, must be \(length)")
        }
    }

    private func requireConnection(_ header: FrameHeader, _ name: StaticString) throws(ConnectionError) {
        guard header.stream == 0 else {
            throw ConnectionError(
                code: .protocolError, text: "\(name) on stream \(header.stream), belongs on stream 0")
        }
    }

    // MARK: Frames about the connection

    private mutating func receivePriority(_ header: FrameHeader) throws(ConnectionError) {
        guard header.stream != 0 else {
            throw ConnectionError(code: .protocolError, text: "PRIORITY on stream 0")
        }
        // RFC 9113 makes a wrong length a stream error (§6.3), but no server has a reason to send PRIORITY to a client.
        try require(header, length: 5, "PRIORITY")
        try flood.countIdleFrame()
    }

    private mutating func receivePing(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) {
        try requireConnection(header, "PING")
        try require(header, length: 8, "PING")
        let opaque = UInt64(payload.bigEndian32(at: 0)) << 32 | UInt64(payload.bigEndian32(at: 4))
        if !header.has(FrameFlag.acknowledgement) {
            try flood.countIdleFrame()
            try flood.countReply()
            output.appendPing(opaque, acknowledges: true)
        } else if pings.acknowledge(opaque) {
            events.events.append(.pong)
        } else {
            try flood.countIdleFrame()
        }
    }

    private mutating func receiveGoAway(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) {
        try requireConnection(header, "GOAWAY")
        guard header.length >= 8 else {
            throw ConnectionError(code: .frameSizeError, text: "GOAWAY of \(header.length) bytes, must be 8 or more")
        }
        let lastStream = payload.bigEndian32(at: 0) & StreamID.max
        let debug = payload.extracting(8..<min(payload.count, 8 + ClientSession.debugTextMax))
        state = .draining
        events.events.append(
            .goAway(
                lastStream: lastStream, code: ErrorCode(rawValue: payload.bigEndian32(at: 4)),
                debug: events.store(debug)))
        for position in streams.positions where streams[position].id > lastStream {
            events.events.append(.notProcessed(tag: streams[position].tag))
            streams.close(position)
        }
        try flood.countIdleFrame()
    }

    private mutating func receiveSettings(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) {
        try requireConnection(header, "SETTINGS")
        if header.has(FrameFlag.acknowledgement) {
            try require(header, length: 0, "acknowledgement of SETTINGS")
            try own.acknowledge()
            decoder.setTableLimit(configuration.decoderTableSize)
            return
        }
        guard header.length % 6 == 0 else {
            throw ConnectionError(
                code: .frameSizeError, text: "SETTINGS of \(header.length) bytes, must be a multiple of 6")
        }
        try flood.countIdleFrame()
        let windowBefore = peer.streamWindow
        for index in stride(from: 0, to: payload.count, by: 6) {
            let (setting, value) = (payload.bigEndian16(at: index), payload.bigEndian32(at: index + 2))
            if setting == SettingID.headerTableSize { shapes.setTableLimit(Int(value)) }
            try peer.apply(setting: setting, value: value)
        }
        // Open streams gain or lose the difference, and their windows may become negative (§6.9.2). The walk happens once
        // per frame, because a walk for each of a frame's 2,730 values would help an attacker.
        if peer.streamWindow != windowBefore,
            let stream = streams.moveSendWindows(by: peer.streamWindow - windowBefore)
        {
            throw ConnectionError(
                code: .flowControlError,
                text: "initial window of \(peer.streamWindow) bytes overflows that of stream \(stream)")
        }
        try flood.countReply()
        output.appendSettingsAcknowledgement()
        peer.settingsArrived()
        stalled.windowGrew()
        events.events.append(.settingsChanged)
    }

    private mutating func receiveWindowUpdate(
        _ header: FrameHeader, _ payload: Span<UInt8>
    ) throws(ConnectionError) {
        try require(header, length: 4, "WINDOW_UPDATE")
        let increment = Int(payload.bigEndian32(at: 0) & UInt32(FlowControl.windowMax))
        if header.stream == 0 {
            try peer.widenConnection(by: increment)
            return stalled.windowGrew()
        }
        guard let position = try openStream(header, "WINDOW_UPDATE") else { return try flood.countIdleFrame() }
        guard increment > 0 else { return reset(position, .protocolError) }
        streams[position].sendWindow += increment
        guard streams[position].sendWindow <= FlowControl.windowMax else { return reset(position, .flowControlError) }
        stalled.windowGrew()
    }

    private mutating func receiveReset(_ header: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionError) {
        try require(header, length: 4, "RST_STREAM")
        guard let position = try openStream(header, "RST_STREAM") else { return try flood.countIdleFrame() }
        wasReset(position, ErrorCode(rawValue: payload.bigEndian32(at: 0)))
    }
}
