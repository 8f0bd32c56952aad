/// Requests are written straight into the output: copies of the shape's bytes, the path, literal fields, the body.
extension ClientSession {
    /// Sends a request to a device: the path is the shape's prefix and the token in lower-case hex, written in one pass.
    ///
    /// The request is accepted whenever a stream is free. What the windows hold of the body goes out at once; the rest,
    /// which is kept by reference, follows as the peer opens them.
    /// - Parameters:
    ///   - token: raw bytes, not hex.
    ///   - authorization: the provider token's field, made once per refresh.
    ///   - fields: what else differs between requests of this shape, such as `apns-expiration`.
    ///   - tag: comes back in the request's event.
    /// - Returns: `false`, and nothing has happened, exactly when `freeStreams` is 0.
    @discardableResult
    public mutating func request(
        shape: RequestShape, token: Span<UInt8>, authorization: LiteralFields = LiteralFields(),
        fields: LiteralFields = LiteralFields(), body: [UInt8], tag: UInt64
    ) -> Bool {
        guard freeStreams > 0 else { return false }
        let (start, encoded) = beginRequest(shape)
        appendPathHeader(count: shape.pathPrefix.count + 2 * token.count)
        output.append(shape.pathPrefix)
        output.appendHex(token)
        endRequest(from: start, encoded, authorization, fields, body: body, tag: tag)
        return true
    }

    /// The same with a whole path instead of a token.
    @discardableResult
    public mutating func request(
        shape: RequestShape, path: Span<UInt8>, authorization: LiteralFields = LiteralFields(),
        fields: LiteralFields = LiteralFields(), body: [UInt8], tag: UInt64
    ) -> Bool {
        guard freeStreams > 0 else { return false }
        let (start, encoded) = beginRequest(shape)
        appendPathHeader(count: path.count)
        output.append(path)
        endRequest(from: start, encoded, authorization, fields, body: body, tag: tag)
        return true
    }

    /// Writes a HEADERS frame as far as the path. Its length is filled in at the end.
    private mutating func beginRequest(_ shape: RequestShape) -> (start: UInt64, encoded: Int) {
        let start = output.position
        output.appendHeader(length: 0, type: FrameType.headers, flags: FrameFlag.endHeaders, stream: nextStream)
        if encoder.owesSizeUpdate {
            var update: [UInt8] = []
            encoder.beginBlock(into: &update)
            output.append(update)
        }
        let encoded = shapes.prepare(shape, with: &encoder)
        output.append(shapes.pseudoFields(encoded))
        return (start, encoded)
    }

    /// `:path` (4 in the static table) as a literal that is never indexed, not Huffman-coded.
    private mutating func appendPathHeader(count: Int) {
        output.append(0x14 as UInt8)
        output.appendInteger(count, prefix: 7, pattern: 0)
    }

    private mutating func endRequest(
        from start: UInt64, _ encoded: Int, _ authorization: LiteralFields, _ fields: LiteralFields, body: [UInt8],
        tag: UInt64
    ) {
        output.append(shapes.fields(encoded))
        output.append(authorization.bytes)
        output.append(fields.bytes)
        let endStream = body.isEmpty ? FrameFlag.endStream : 0
        let blockCount = Int(output.position - start) - FrameHeader.count
        if blockCount <= peerFrameSizeMax {
            output.finishFrame(at: start, length: blockCount, flags: FrameFlag.endHeaders | endStream)
        } else {
            splitBlock(from: start, endStream: endStream)
        }

        let position = streams.open(nextStream)
        streams[position].tag = tag
        streams[position].startsAt = start
        streams[position].sendWindow = peerInitialWindow
        streams[position].receiveWindow = FlowControl.defaultWindow
        advanceStreamID()
        guard !body.isEmpty else { return }
        streams[position].unsent = body
        guard !sendBody(position) else { return }
        // Bounded even if the peer opens no window and resets every request.
        if stalled.count > 2 * configuration.streamsMax {
            stalled.removeAll(where: { streams.position(of: $0) == nil })
        }
        stalled.append(streams[position].id)
    }

    /// Spreads a header block that is too long for one frame over CONTINUATION frames.
    private mutating func splitBlock(from start: UInt64, endStream: UInt8) {
        let block = Array(output.cut(from: start).dropFirst(FrameHeader.count))
        var sent = 0
        while sent < block.count {
            let piece = block[sent..<min(sent + peerFrameSizeMax, block.count)]
            let isLast = piece.endIndex == block.count
            output.appendHeader(
                length: piece.count, type: sent == 0 ? FrameType.headers : FrameType.continuation,
                flags: (sent == 0 ? endStream : 0) | (isLast ? FrameFlag.endHeaders : 0), stream: nextStream)
            output.append(Array(piece))
            sent = piece.endIndex
        }
    }

    /// To the next ID whose place is free. There always is one, as at most half of the places are taken.
    private mutating func advanceStreamID() {
        repeat { nextStream += 2 } while nextStream <= StreamID.max && !streams.isFree(for: nextStream)
        guard nextStream > StreamID.max, state == .open else { return }
        state = .draining
        events.events.append(.exhausted)
    }

    // MARK: Bodies

    /// Sends as much of a body as windows allow; `true` when nothing of it is left.
    mutating func sendBody(_ position: Int) -> Bool {
        let id = streams[position].id
        let body = streams[position].unsent
        var from = streams[position].unsentFrom
        while from < body.count {
            let count = min(body.count - from, peerFrameSizeMax, sendWindow, streams[position].sendWindow)
            guard count > 0 else { break }
            let ends = from + count == body.count
            output.appendHeader(
                length: count, type: FrameType.data, flags: ends ? FrameFlag.endStream : 0, stream: id)
            output.append(body.span.extracting(from..<from + count))
            from += count
            sendWindow -= count
            streams[position].sendWindow -= count
        }
        let isDone = from == body.count
        streams[position].unsent = isDone ? [] : body
        streams[position].unsentFrom = isDone ? 0 : from
        return isDone
    }

    /// Goes on with the bodies that waited, oldest request first.
    mutating func sendStalled() {
        windowsHaveGrown = false
        var kept = 0
        for index in stalled.indices {
            let id = stalled[index]
            guard let position = streams.position(of: id) else { continue }
            if sendWindow > 0, sendBody(position) { continue }
            stalled[kept] = id
            kept += 1
        }
        stalled.removeLast(stalled.count - kept)
    }
}
