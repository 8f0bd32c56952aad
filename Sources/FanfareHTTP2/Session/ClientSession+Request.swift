/// Requests, written directly into the output: copies of the shape's bytes, the path, literal fields, the body.
extension ClientSession {
    /// Sends a request to a device. The path is the shape's prefix and the token in lower-case hex, written in one pass.
    ///
    /// The session accepts a request whenever a stream is free. The windows' share of the body goes out at once; the session
    /// keeps a reference to the body and sends the rest as the peer opens the windows.
    /// - Parameters:
    ///   - token: raw bytes, not hex.
    ///   - authorization: the provider token's field, encoded once per refresh.
    ///   - fields: further fields that differ between requests of this shape, such as `apns-expiration`.
    ///   - tag: returned in the request's event.
    /// - Returns: `false`, without any effect, exactly when `freeStreams` is 0.
    @discardableResult
    package mutating func request(
        shape: RequestShape, token: Span<UInt8>, authorization: LiteralFields = LiteralFields(),
        fields: LiteralFields = LiteralFields(), body: [UInt8], tag: UInt64
    ) -> Bool {
        request(
            shape, .token, token, (authorization, fields), body: body, tag: tag)
    }

    /// Sends a request with a whole path instead of a token.
    @discardableResult
    package mutating func request(
        shape: RequestShape, path: Span<UInt8>, authorization: LiteralFields = LiteralFields(),
        fields: LiteralFields = LiteralFields(), body: [UInt8], tag: UInt64
    ) -> Bool {
        request(
            shape, .whole, path, (authorization, fields), body: body, tag: tag)
    }

    private enum PathForm { case token, whole }

    @inline(__always)
    private mutating func request(
        _ shape: RequestShape, _ form: PathForm, _ path: Span<UInt8>,
        _ literals: (authorization: LiteralFields, others: LiteralFields), body: [UInt8], tag: UInt64
    ) -> Bool {
        let (authorization, fields) = literals
        guard freeStreams > 0 else { return false }
        let start = output.position
        let encoded = shapes.prepare(shape)
        let pathCount = form == .token ? shape.pathPrefix.count + 2 * path.count : path.count
        let pathFieldCount = unsafe 1 + OutputCursor.bytes(ofInteger: pathCount, prefix: 7) + pathCount
        let blockCount =
            shapes.entries[encoded].pseudoFields.count + pathFieldCount + shapes.entries[encoded].fields.count
            + authorization.bytes.count + fields.bytes.count
        // Nearly every request is whole: one frame of fields and one of body, with no limit in the way.
        let isWhole =
            blockCount <= peer.frameSizeMax && body.count <= peer.wholeBodyMax
        var cursor = unsafe output.cursor(room: 2 * FrameHeader.count + blockCount + (isWhole ? body.count : 0))
        unsafe cursor.putHeader(
            length: blockCount, type: FrameType.headers,
            flags: FrameFlag.endHeaders | (body.isEmpty ? FrameFlag.endStream : 0), stream: streams.next)
        unsafe cursor.put(shapes.entries[encoded].pseudoFields)
        // `:path` (4 in the static table) is a literal that is never indexed and not Huffman-coded.
        unsafe cursor.put(0x14 as UInt8)
        unsafe cursor.put(integer: pathCount, prefix: 7, pattern: 0)
        if form == .token {
            unsafe cursor.put(shape.pathPrefix)
            unsafe cursor.put(hexOf: path)
        } else {
            unsafe cursor.put(path)
        }
        unsafe cursor.put(shapes.entries[encoded].fields)
        unsafe cursor.put(authorization.bytes)
        unsafe cursor.put(fields.bytes)
        var window = peer.streamWindow
        if isWhole, !body.isEmpty {
            unsafe cursor.putHeader(
                length: body.count, type: FrameType.data, flags: FrameFlag.endStream, stream: streams.next)
            unsafe cursor.put(body)
            peer.connectionWindow -= body.count
            window -= body.count
        }
        unsafe output.commit(cursor)
        if blockCount > peer.frameSizeMax { splitBlock(from: start, endStream: body.isEmpty) }
        let end = isWhole || body.isEmpty ? output.position : .max
        let position = streams.open(Stream(id: streams.next, tag: tag, endsAt: end, sendWindow: window))
        advanceStreamID()
        if !isWhole, !body.isEmpty { beginBody(body, position) }
        return true
    }

    /// Splits a header block that exceeds one frame into HEADERS and CONTINUATION frames.
    private mutating func splitBlock(from start: UInt64, endStream: Bool) {
        let block = Array(output.cut(from: start).dropFirst(FrameHeader.count))
        var sent = 0
        while sent < block.count {
            let piece = block[sent..<min(sent + peer.frameSizeMax, block.count)]
            let isLast = piece.endIndex == block.count
            output.appendHeader(
                length: piece.count, type: sent == 0 ? FrameType.headers : FrameType.continuation,
                flags: (sent == 0 && endStream ? FrameFlag.endStream : 0) | (isLast ? FrameFlag.endHeaders : 0),
                stream: streams.next)
            output.append(Array(piece))
            sent = piece.endIndex
        }
    }

    private mutating func advanceStreamID() {
        streams.advance()
        guard streams.next > StreamID.max, state == .open else { return }
        state = .draining
        events.events.append(.exhausted)
    }

    // MARK: Bodies

    /// Begins a body that exceeds one frame or a window.
    private mutating func beginBody(_ body: [UInt8], _ position: Int) {
        streams[partial: position].unsent = body
        guard !sendBody(position) else { return }
        // The list stays bounded even if the peer opens no window and resets every request.
        if stalled.streams.count > 2 * configuration.streamsMax {
            stalled.prune { streams.position(of: $0) != nil }
        }
        stalled.append(streams[position].id)
    }

    /// Sends as much of a body as the windows allow; returns `true` when nothing of it is left.
    mutating func sendBody(_ position: Int) -> Bool {
        let id = streams[position].id
        let body = streams[partial: position].unsent
        var from = streams[partial: position].unsentFrom
        while from < body.count {
            let count = min(body.count - from, peer.frameSizeMax, peer.connectionWindow, streams[position].sendWindow)
            guard count > 0 else { break }
            let ends = from + count == body.count
            output.appendHeader(
                length: count, type: FrameType.data, flags: ends ? FrameFlag.endStream : 0, stream: id)
            output.append(body.span.extracting(from..<from + count))
            from += count
            peer.connectionWindow -= count
            streams[position].sendWindow -= count
        }
        let isDone = from == body.count
        if isDone { streams[position].endsAt = output.position }
        streams[partial: position].unsent = isDone ? [] : body
        streams[partial: position].unsentFrom = isDone ? 0 : from
        return isDone
    }

    /// Resumes stalled bodies, oldest request first.
    mutating func sendStalled() {
        var waiting = stalled.take()
        var kept = 0
        for index in waiting.indices {
            let id = waiting[index]
            guard let position = streams.position(of: id) else { continue }
            if peer.connectionWindow > 0, sendBody(position) { continue }
            waiting[kept] = id
            kept += 1
        }
        waiting.removeLast(waiting.count - kept)
        stalled.giveBack(waiting)
    }
}
