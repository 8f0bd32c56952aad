/// Client side of one HTTP/2 connection (RFC 9113), without I/O: bytes in, bytes and events out.
///
///     var session = ClientSession(configuration: .init())
///     let shape = RequestShape(authority: "api.push.apple.com", fields: [HeaderField("apns-priority", "5")])
///     if session.freeStreams > 0 {
///         session.request(shape: shape, token: token.span, authorization: jwt, body: payload, tag: 7)
///     }
///     let sent = session.withOutput { socket.write($0) }
///     session.take(sent)
///     session.receive(bytesFromSocket)
///     session.takeEvents(into: &batch)
///
/// One thread at a time may use a session; it belongs to the owner of the connection. The session does not trust the peer:
/// all input ends in events, and every size is bounded (see `SessionConfiguration`).
@usableFromInline package struct ClientSession: ~Copyable {
    package typealias Configuration = SessionConfiguration

    package enum State: Sendable {
        case open
        /// The session accepts no new requests, because the peer or the caller sent GOAWAY or stream IDs ran out. Requests
        /// in flight continue.
        case draining
        /// The peer broke the protocol or the connection was lost; no request continues.
        case closed
    }

    /// Maximum number of bytes that are kept of GOAWAY's debug data.
    package static let debugTextMax = 1024

    package let configuration: Configuration
    package internal(set) var state = State.open
    /// The caller's own limit of requests in flight, in addition to the peer's. APNs allows one request with token
    /// authentication until the first has succeeded (spec §10). Lowering the limit cancels nothing.
    package var streamLimit: Int

    var output: OutputBuffer
    var events = EventBatch()
    var streams: StreamTable
    var shapes: ShapeCache
    var decoder: HeaderDecoder
    var peer = PeerLimits()
    var own: OwnLimits
    var stalled = StalledBodies()
    /// Holds at most 9 + 16,384 bytes.
    var frames = FrameReader()
    var headerBlock = HeaderBlock()
    var pings = Pings()
    var flood = FloodGuard()

    /// Creates a session whose output begins with the connection preface and our SETTINGS.
    package init(configuration: Configuration) {
        configuration.check()
        self.configuration = configuration
        streamLimit = configuration.streamsMax
        streams = StreamTable(streamsMax: configuration.streamsMax, first: configuration.firstStream)
        shapes = ShapeCache(encoder: HeaderEncoder(tableCapacity: configuration.encoderTableSize))
        decoder = HeaderDecoder(tableCapacity: configuration.decoderTableSize, listLimit: configuration.headerListMax)
        own = OwnLimits(window: configuration.receiveWindow)
        output = OutputBuffer(capacity: 4096)
        output.append(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
        output.appendSettings([
            (SettingID.headerTableSize, UInt32(configuration.decoderTableSize)),
            (SettingID.enablePush, 0),
            (SettingID.maxHeaderListSize, UInt32(configuration.headerListMax)),
        ])
        if own.window > FlowControl.defaultWindow {
            output.appendWindowUpdate(own.window - FlowControl.defaultWindow, stream: 0)
        }
    }

    /// `true` once the peer's SETTINGS have arrived; the peer's limits are the protocol's defaults before.
    package var settingsReceived: Bool { peer.areKnown }

    // MARK: Room

    /// Requests in flight.
    package var openStreams: Int { streams.count }

    /// Requests that the session would accept now.
    package var freeStreams: Int {
        guard state == .open else { return 0 }
        return max(0, min(streamLimit, configuration.streamsMax, peer.streamsMax) - streams.count)
    }

    /// Requests in flight that the configuration and the peer allow, without the caller's own `streamLimit`.
    @usableFromInline package var streamsAllowed: Int { min(configuration.streamsMax, peer.streamsMax) }

    /// `true` while the peer allows requests at all: its MAX_CONCURRENT_STREAMS is not 0.
    @usableFromInline package var allowsStreams: Bool { peer.streamsMax > 0 }

    /// Bytes of bodies that the connection's window lets out now. The session still accepts a request beyond it, but its
    /// body waits; so a caller that wants to send the newest state takes no more work than this window holds.
    @usableFromInline package var freeWindow: Int { peer.connectionWindow }

    // MARK: Output

    /// Bytes that wait to be written, bounded by the accepted requests and a thousand short replies.
    @usableFromInline package var outputCount: Int { output.count }

    /// Lends the waiting bytes to `body`; the caller then reports the number of written bytes with `take`.
    package borrowing func withOutput<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe output.withBytes(body)
    }

    /// Removes the first `count` bytes of the output, which are on their way: the peer may process requests that end in them from now on.
    package mutating func take(_ count: Int) {
        output.take(count)
        if output.count == 0 { flood.outputLeft() }
    }

    /// Swaps the output's memory with that of `buffer`, so that sessions that write one after the other share one memory.
    /// - Precondition: both buffers are empty.
    package mutating func exchangeMemory(with buffer: inout OutputBuffer) { output.exchangeMemory(with: &buffer) }

    // MARK: Events

    /// Swaps the events since the last call into `batch` and drops its old content. The caller calls it after each
    /// `receive`, because events wait in memory until taken.
    package mutating func takeEvents(into batch: inout EventBatch) {
        batch.removeAll()
        swap(&batch, &events)
    }

    // MARK: Life and death

    /// Sends a PING, which the peer answers with `Event.pong`. Returns `false` while an earlier PING is unanswered or the
    /// session is closed.
    @discardableResult
    package mutating func ping() -> Bool {
        guard state != .closed, let content = pings.next() else { return false }
        output.appendPing(content, acknowledges: false)
        return true
    }

    /// Stops accepting requests and sends GOAWAY. The caller closes the connection when `openStreams` is 0.
    package mutating func goAway() {
        guard state == .open else { return }
        state = .draining
        // The last stream of the peer that we have processed is 0, because we accept none.
        output.appendGoAway(.noError, lastStream: 0, debug: "")
    }

    /// Cancels one request, for example after its timeout: it ends in `Event.lost` with `cancel`, or in
    /// `notProcessed` if its body still waits for a window. O(`streamsMax`); returns
    /// `false` when no such request is in flight.
    @discardableResult
    package mutating func cancel(tag: UInt64) -> Bool {
        guard let position = streams.position(ofTag: tag) else { return false }
        reset(position, .cancel)
        return true
    }

    /// Closes the session after the connection has ended on either side. Every request in flight gets its event: `lost` if
    /// all of its bytes have left, `notProcessed` otherwise. The remaining output must not be sent.
    /// - Parameter unsent: number of bytes at the end of those taken that have not left and never will.
    package mutating func connectionLost(unsent: Int = 0) {
        state = .closed
        let left = output.taken - min(output.taken, UInt64(unsent))
        for position in streams.positions {
            let stream = streams[position]
            let wasSent = stream.endsAt <= left
            events.events.append(wasSent ? .lost(tag: stream.tag, code: nil) : .notProcessed(tag: stream.tag))
            streams.close(position)
        }
        stalled.removeAll()
    }

    // MARK: Streams

    /// Returns the open stream of a frame, or nil when it is closed; the frame is then ignored, because it may have crossed
    /// our RST_STREAM. A stream that was never open is an error (RFC 9113 §5.1).
    func openStream(_ header: FrameHeader, _ name: StaticString) throws(ConnectionError) -> Int? {
        guard header.stream % 2 == 1, header.stream < streams.next else {
            throw ConnectionError(code: .protocolError, text: "\(name) on stream \(header.stream), which is not open")
        }
        return streams.position(of: header.stream)
    }

    /// Ends one stream with RST_STREAM.
    mutating func reset(_ position: Int, _ code: ErrorCode) {
        output.appendReset(code, stream: streams[position].id)
        wasReset(position, code)
    }

    /// Closes a stream that one of the sides has reset. The peer cannot have processed a request whose body still waits for a window,
    /// because the end of that stream was never written.
    mutating func wasReset(_ position: Int, _ code: ErrorCode) {
        let stream = streams[position]
        let wasWritten = stream.endsAt != .max
        events.events.append(
            code == .refusedStream || !wasWritten ? .notProcessed(tag: stream.tag) : .lost(tag: stream.tag, code: code))
        streams.close(position)
    }

    /// Ends the connection because the peer broke a rule of the protocol.
    mutating func fail(_ error: ConnectionError) {
        state = .closed
        output.appendGoAway(error.code, lastStream: 0, debug: error.text)
        events.events.append(.failed(code: error.code, text: events.store(error.text.utf8)))
    }
}
