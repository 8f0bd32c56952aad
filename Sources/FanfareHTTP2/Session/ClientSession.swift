/// One HTTP/2 connection from the client's side (RFC 9113), without any I/O: bytes in, bytes and events out.
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
/// It can be used by one thread at a time and belongs to whoever owns the connection. The peer is not trusted: whatever it
/// sends ends in events, and every size is bounded (see `Configuration`).
@usableFromInline package struct ClientSession: ~Copyable {
    package enum State: Sendable {
        case open
        /// No new requests: the peer or the caller said goodbye, or stream IDs ran out. What is in flight goes on.
        case draining
        /// The protocol was broken or the connection lost: nothing goes on.
        case closed
    }

    package let configuration: Configuration
    package internal(set) var state = State.open
    /// The caller's own limit to requests in flight, beside the peer's. With token authentication APNs allows one until
    /// the first has succeeded (spec §10). Lowering it cancels nothing.
    package var streamLimit: Int
    /// The peer's SETTINGS have arrived; before, its limits are the protocol's defaults.
    package internal(set) var settingsReceived = false

    var output: OutputBuffer
    var events = EventBatch()
    var streams: StreamTable
    var nextStream: UInt32
    var encoder: HeaderEncoder
    var shapes = ShapeCache()
    var decoder: HeaderDecoder

    // What the peer allows.
    var peerStreamsMax = Int.max
    var peerInitialWindow = FlowControl.defaultWindow
    var peerFrameSizeMax = FlowControl.defaultFrameSize
    /// Of the connection, in bytes.
    var sendWindow = FlowControl.defaultWindow
    /// Streams whose bodies wait for a window, in the order of their requests. May name streams that are gone.
    var stalled: [UInt32] = []
    /// Some window has grown since the stalled bodies were last tried.
    var windowsHaveGrown = false

    // What the peer may still do.
    var receiveWindow: Int
    var settingsAcknowledged = false

    /// The beginning of a frame whose rest has not come. At most 9 + 16,384 bytes.
    var partialFrame: [UInt8] = []
    /// A header block that is not complete, and the stream it is for; 0 when there is none.
    var headerBlock: [UInt8] = []
    var headerBlockStream: UInt32 = 0
    var headerBlockEndsStream = false
    var continuations = 0

    var pingsSent: UInt64 = 0
    var awaitsPong = false
    var repliesQueued = 0
    var idleFrames = 0

    /// The output begins with the connection preface and our SETTINGS.
    package init(configuration: Configuration) {
        configuration.check()
        self.configuration = configuration
        streamLimit = configuration.streamsMax
        streams = StreamTable(streamsMax: configuration.streamsMax)
        nextStream = configuration.firstStream
        encoder = HeaderEncoder(tableCapacity: configuration.encoderTableSize)
        decoder = HeaderDecoder(tableCapacity: configuration.decoderTableSize, listLimit: configuration.headerListMax)
        receiveWindow = configuration.receiveWindow
        output = OutputBuffer(capacity: 4096)
        output.append(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
        output.appendSettings([
            (SettingID.headerTableSize, UInt32(configuration.decoderTableSize)),
            (SettingID.enablePush, 0),
            (SettingID.maxHeaderListSize, UInt32(configuration.headerListMax)),
        ])
        if receiveWindow > FlowControl.defaultWindow {
            output.appendWindowUpdate(receiveWindow - FlowControl.defaultWindow, stream: 0)
        }
    }

    // MARK: Room

    /// Requests in flight.
    package var openStreams: Int { streams.count }

    /// Requests that would be accepted now.
    package var freeStreams: Int {
        guard state == .open else { return 0 }
        return max(0, min(streamLimit, configuration.streamsMax, peerStreamsMax) - streams.count)
    }

    /// Requests that may be in flight at once when the caller's own limit has grown.
    @usableFromInline package var streamsAllowed: Int { min(configuration.streamsMax, peerStreamsMax) }

    /// The peer allows requests at all: its MAX_CONCURRENT_STREAMS is not 0.
    @usableFromInline package var allowsStreams: Bool { peerStreamsMax > 0 }

    /// Bytes of bodies that the connection's window lets out now. A request beyond it is accepted all the same, but its
    /// body waits; so a caller that wants to send the newest state asks for no more work than this holds.
    @usableFromInline package var freeWindow: Int { max(0, sendWindow) }

    // MARK: Output

    /// Bytes that wait to be written. Bounded by the requests accepted and a thousand short replies.
    @usableFromInline package var outputCount: Int { output.count }

    /// Lends the waiting bytes; say with `take` how many were written.
    package borrowing func withOutput<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try output.withBytes(body)
    }

    /// The first `count` bytes of the output are on their way: from now on requests that end in them may be processed.
    package mutating func take(_ count: Int) {
        output.take(count)
        if output.count == 0 { repliesQueued = 0 }
    }

    /// Writes into this buffer's memory from now on, and gives its own instead: sessions that write one after the other need one memory.
    /// - Precondition: no bytes wait in either.
    package mutating func exchangeMemory(with buffer: inout OutputBuffer) { output.exchangeMemory(with: &buffer) }

    // MARK: Events

    /// Swaps what has happened since the last call into `batch`, whose old content is dropped. Call it after each
    /// `receive`: events wait in memory until taken.
    package mutating func takeEvents(into batch: inout EventBatch) {
        batch.removeAll()
        swap(&batch, &events)
    }

    // MARK: Life and death

    /// Asks the peer for a sign of life: it answers with `Event.pong`. One at a time; `false` while one is on its way.
    @discardableResult
    package mutating func ping() -> Bool {
        guard state != .closed, !awaitsPong else { return false }
        awaitsPong = true
        pingsSent &+= 1
        output.appendPing(pingsSent, acknowledges: false)
        return true
    }

    /// Accepts no more requests and tells the peer. Close the connection when `openStreams` is 0.
    package mutating func goAway() {
        guard state == .open else { return }
        state = .draining
        // We accept no streams from the peer, so the last one we have processed is 0.
        output.appendGoAway(.noError, lastStream: 0, debug: "")
    }

    /// Gives up on one request, for example because its time is over: it ends in `Event.lost` with `cancel`.
    /// O(`streamsMax`); `false` when no such request is in flight.
    @discardableResult
    package mutating func cancel(tag: UInt64) -> Bool {
        guard let position = streams.position(ofTag: tag) else { return false }
        reset(position, .cancel)
        return true
    }

    /// The connection is gone, whoever closed it. Every request in flight gets its event: `lost` where all of its bytes have left,
    /// `notProcessed` otherwise. The output left over must not be sent.
    /// - Parameter unsent: of the bytes taken, those at the end that have not left and never will.
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

    /// Ends one stream with RST_STREAM; its request is lost.
    mutating func reset(_ position: Int, _ code: ErrorCode) {
        let stream = streams[position]
        output.appendReset(code, stream: stream.id)
        events.events.append(.lost(tag: stream.tag, code: code))
        streams.close(position)
    }

    /// Ends the connection because the peer broke a rule.
    mutating func fail(_ error: ConnectionError) {
        state = .closed
        output.appendGoAway(error.code, lastStream: 0, debug: error.text)
        events.events.append(.failed(code: error.code, text: events.store(error.text.utf8)))
    }
}
