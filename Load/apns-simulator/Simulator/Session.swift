internal import CFanfareNghttp2

/// Decides about the requests of a session.
protocol SessionHandler: AnyObject {
    /// Returns the refusal for this `authorization` value, or `nil`.
    func checkProviderToken(_ value: UnsafeRawBufferPointer) -> Answer?
    var expected: Expected { get }
    /// Takes a complete request. The answer may be given now or later. The session is being read during the call, so the handler must not
    /// call `receive` or `takeOutput`.
    func receive(_ head: RequestHead, body: [UInt8], stream: Int32) -> Reception
    /// Reports that the answer to an accepted push has not left and never will.
    func answerLost(_ entry: EntryIndex?)
}

enum Reception {
    case answer(Answer, EntryIndex?)
    /// `Session.answerNow` gives the answer when it is due, unless the connection ends first.
    case answerLater(Answer, EntryIndex?)
    /// Like `answer`, and nothing after this request is read, because the connection is about to be lost.
    case answerAndStop(Answer, EntryIndex?)
    case reset(StreamReset)
}

/// A violation of HTTP/2 by the peer. The connection is to be closed after the remaining output has been written.
struct SessionError: Error, CustomStringConvertible {
    let description: String
}

/// One connection's HTTP/2 server on nghttp2: bytes in, requests out, answers in, bytes out. Knows nothing of sockets.
///
/// Only this file handles nghttp2's pointers. Confined to the simulator's loop; nghttp2 calls
/// back only from within `receive` and `takeOutput`.
final class Session {
    /// Header table size of APNs, observed in 2021 (spec §10).
    private static let headerTableBytes: UInt32 = 4096
    private static let headerListBytesMax = 8000

    /// A request in progress. Slots are reused to keep their buffers. Each callback of nghttp2 accesses its slot once: Swift checks every
    /// access to a class's variable for exclusivity, and ten checks per field would be slow.
    private struct Slot {
        private(set) var head = RequestHead()
        private(set) var body: [UInt8] = []
        private var headerBytes = 0
        var entry: EntryIndex?
        var answer: Answer?
        var bodySent = 0
        var isComplete = false
        var isAnswerSubmitted = false
        var isAnswerSent = false
        var isInUse = false

        mutating func begin() {
            head.reset()
            body.removeAll(keepingCapacity: true)
            headerBytes = 0
            entry = nil
            answer = nil
            bodySent = 0
            isComplete = false
            isAnswerSubmitted = false
            isAnswerSent = false
            isInUse = true
        }

        /// Adds a field. Returns `false` if the fields exceed their limit.
        mutating func add(
            _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, expected: Expected,
            providerToken: (UnsafeRawBufferPointer) -> Answer?
        ) -> Bool {
            // The size of a field as RFC 9113 §6.5.2 counts it.
            headerBytes += name.count + value.count + 32
            guard headerBytes <= Session.headerListBytesMax else { return false }
            head.field(name, value, expected: expected, providerToken: providerToken)
            return true
        }

        mutating func append(_ bytes: UnsafeRawBufferPointer) {
            // One byte beyond the limit is kept, which is enough to detect an oversized body.
            let room = PayloadCheck.bodyBytesMax + 1 - body.count
            body.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes.prefix(max(0, room))))
        }
    }

    private var settings: SessionSettings
    private unowned let handler: any SessionHandler
    private let expected: Expected
    private var session: OpaquePointer?
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    /// Highest stream with a complete request.
    private var highestRequest: Int32 = 0
    /// Highest stream that is served: a GOAWAY announced that later ones are ignored.
    private var lastStream = Int32.max
    private var isStopped = false
    private var isThrottledToOneStream: Bool
    private var answersGiven: UInt64 = 0
    /// Entries of answers that were taken as output and may not have left yet.
    private var leaving: [EntryIndex?] = []
    private var identifier: [UInt8]

    /// Allocator of nghttp2's session, which it outlives.
    private let memory: SessionMemory

    init(settings: SessionSettings, memory: SessionMemory, handler: any SessionHandler) throws(SessionError) {
        self.settings = settings
        self.memory = memory
        self.handler = handler
        expected = handler.expected
        identifier = Session.identifier(seed: settings.seed)
        isThrottledToOneStream = settings.isStrictAtStart && settings.streamsMax > 1
        var session: OpaquePointer?
        var callbacks = memory.callbacks  // copied by nghttp2
        let code = nghttp2_session_server_new3(
            &session, SessionCallbacks.shared.callbacks, Unmanaged.passUnretained(self).toOpaque(),
            SessionCallbacks.shared.options, &callbacks)
        guard code == 0 else { throw Session.error(code, "nghttp2_session_server_new3") }
        self.session = session
        try submitSettings()
    }

    deinit { nghttp2_session_del(session) }

    /// Is `true` when no request lacks its answer in the output.
    var isIdle: Bool { freeSlots.count == slots.count }
    var isGoingAway: Bool { lastStream != .max }

    /// Reads bytes from the peer. Ignores the rest after an error, or once a reception said stop.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(SessionError) {
        guard !isStopped, let start = bytes.baseAddress else { return }
        let count = nghttp2_session_mem_recv(session, start.assumingMemoryBound(to: UInt8.self), bytes.count)
        guard count < 0, !isStopped else { return }
        isStopped = true
        throw Session.error(Int32(count), "nghttp2_session_mem_recv")
    }

    /// Appends the bytes to be written.
    func takeOutput(into output: inout [UInt8]) throws(SessionError) {
        while true {
            var start: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &start)
            guard count >= 0 else { throw Session.error(Int32(count), "nghttp2_session_mem_send") }
            guard count > 0, let start else { return }
            output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
        }
    }

    var wantsToWrite: Bool { nghttp2_session_want_write(session) != 0 }
    /// Is `true` when nothing is left to read or write, so that the connection can be closed.
    var isFinished: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

    /// Gives the answer of an `answerLater`. Does nothing if the stream is gone.
    func answerNow(_ stream: Int32) {
        guard let slot = slot(of: stream), let answer = slots[slot].answer, !slots[slot].isAnswerSubmitted else {
            return
        }
        submitAnswer(slot, answer, stream: stream)
    }

    /// Announces that streams above the highest complete request will be ignored (RFC 9113 §6.8), with Apple's JSON as debug data.
    func goAway(reason: String) {
        guard !isGoingAway else { return }
        lastStream = highestRequest
        let text = Array("{\"reason\":\"\(reason)\"}".utf8)
        // This fails only without memory; the connection then continues.
        _ = nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastStream, NGHTTP2_NO_ERROR.rawValue, text, text.count)
    }

    /// Notes that all output taken so far has left.
    func outputLeft() { leaving.removeAll(keepingCapacity: true) }

    /// Ends the connection and reports every answer that has not left. No reading or writing is possible afterwards.
    /// - Parameter outputLeaves: `true` if the output taken so far will still arrive.
    func lose(outputLeaves: Bool) {
        isStopped = true
        if !outputLeaves { for entry in leaving { handler.answerLost(entry) } }
        leaving = []
        for slot in slots.indices where slots[slot].isInUse {
            slots[slot].isInUse = false
            if slots[slot].isComplete, !slots[slot].isAnswerSent { handler.answerLost(slots[slot].entry) }
        }
    }

    // MARK: - Called by nghttp2

    fileprivate func beginHeaders(_ stream: Int32) {
        guard stream <= lastStream else { return }
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
        } else {
            slot = slots.count
            slots.append(Slot())
        }
        slots[slot].begin()
        nghttp2_session_set_stream_user_data(session, stream, UnsafeMutableRawPointer(bitPattern: slot + 1))
    }

    /// Takes a header field. Returns `false` if the fields exceed their limit; nghttp2 then resets the stream.
    fileprivate func header(_ stream: Int32, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        guard let slot = slot(of: stream) else { return true }
        return slots[slot].add(name, value, expected: expected) { handler.checkProviderToken($0) }
    }

    fileprivate func data(_ stream: Int32, _ bytes: UnsafeRawBufferPointer) {
        guard let slot = slot(of: stream) else { return }
        slots[slot].append(bytes)
    }

    /// Takes the end of a request. Returns `false` if reading must stop.
    fileprivate func endOfRequest(_ stream: Int32) -> Bool {
        // A request whose frames surround the GOAWAY is ignored as well, as announced to the client.
        guard stream <= lastStream, let slot = slot(of: stream), !slots[slot].isComplete else { return true }
        slots[slot].isComplete = true
        // Requests may end in another order than they began.
        highestRequest = max(highestRequest, stream)
        let reception = handler.receive(slots[slot].head, body: slots[slot].body, stream: stream)
        switch reception {
        case .answer(let answer, let entry), .answerAndStop(let answer, let entry):
            slots[slot].entry = entry
            slots[slot].answer = answer
            submitAnswer(slot, answer, stream: stream)
        case .answerLater(let answer, let entry):
            slots[slot].entry = entry
            slots[slot].answer = answer
        case .reset(.refused):
            // No answer follows a request that was not examined.
            slots[slot].isInUse = false
            reset(stream, NGHTTP2_REFUSED_STREAM)
        case .reset(.failed(let entry)):
            slots[slot].entry = entry
            reset(stream, NGHTTP2_INTERNAL_ERROR)
        }
        if case .answerAndStop = reception { isStopped = true }
        return !isStopped
    }

    fileprivate func answerSent(_ stream: Int32) {
        guard let slot = slot(of: stream) else { return }
        slots[slot].isAnswerSent = true
        leaving.append(slots[slot].entry)
    }

    fileprivate func streamClosed(_ stream: Int32) {
        guard let slot = slot(of: stream) else { return }
        // A slot that is not in use was lost with the connection, which has already been reported.
        if slots[slot].isInUse, slots[slot].isComplete, !slots[slot].isAnswerSent {
            handler.answerLost(slots[slot].entry)
        }
        slots[slot].isInUse = false
        freeSlots.append(slot)
        nghttp2_session_set_stream_user_data(session, stream, nil)
    }

    /// Copies the next bytes of an answer's body. Returns their number and whether they are the last.
    fileprivate func readBody(_ stream: Int32, into space: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool)
    {
        guard let slot = slot(of: stream), let answer = slots[slot].answer else { return (0, true) }
        let body = answer.body(deadSince: settings.deadSince)
        let rest = body[slots[slot].bodySent...].prefix(space.count)
        space.copyBytes(from: rest)
        slots[slot].bodySent += rest.count
        return (rest.count, slots[slot].bodySent == body.count)
    }

    // MARK: - Towards nghttp2

    private func slot(of stream: Int32) -> Int? {
        // `beginHeaders` stored an index of `slots` plus 1; slots are never removed.
        guard let data = nghttp2_session_get_stream_user_data(session, stream) else { return nil }
        return Int(bitPattern: data) - 1
    }

    private func submitAnswer(_ slot: Int, _ answer: Answer, stream: Int32) {
        slots[slot].isAnswerSubmitted = true
        if isThrottledToOneStream, answer.isAuthenticated {
            isThrottledToOneStream = false
            // This fails only without memory; the limit then stays at one stream.
            try? submitSettings()
        }
        let status = answer.statusText
        answersGiven &+= 1
        let hasIdentifier = !slots[slot].head.apnsID.isEmpty
        if !hasIdentifier { writeIdentifier() }
        // nghttp2 copies the identifier; for names and status it keeps pointers, which is safe because they are constants of the program.
        (hasIdentifier ? slots[slot].head.apnsID : identifier).withUnsafeBufferPointer { identifier in
            var fields = (
                Session.field(":status", status.utf8Start, status.utf8CodeUnitCount, NGHTTP2_NV_FLAG_NO_COPY_VALUE),
                Session.field("apns-id", identifier.baseAddress, identifier.count, NGHTTP2_NV_FLAG_NO_INDEX)
            )
            withUnsafeBytes(of: &fields) { fields in
                let fields = fields.assumingMemoryBound(to: nghttp2_nv.self)
                if answer == .accepted {
                    nghttp2_submit_response(session, stream, fields.baseAddress, fields.count, nil)
                } else {
                    var provider = nghttp2_data_provider()
                    provider.read_callback = SessionCallbacks.readBody
                    nghttp2_submit_response(session, stream, fields.baseAddress, fields.count, &provider)
                }
            }
        }
    }

    private static func field(
        _ name: StaticString, _ value: UnsafePointer<UInt8>?, _ count: Int, _ flag: nghttp2_nv_flag
    ) -> nghttp2_nv {
        nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.utf8Start), value: UnsafeMutablePointer(mutating: value),
            namelen: name.utf8CodeUnitCount, valuelen: count,
            flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | flag.rawValue))
    }

    /// Writes a UUID of version 4 made from the seed, so that a run can be repeated. Only its last digits
    /// change from answer to answer: they are a counter.
    private func writeIdentifier() {
        var bits = answersGiven
        var index = 35
        repeat {
            let nibble = UInt8(bits & 15)
            identifier[index] = nibble < 10 ? 48 + nibble : 87 + nibble
            bits >>= 4
            index -= 1
        } while bits != 0 && index > 23
    }

    private static func identifier(seed: UInt64) -> [UInt8] {
        var bits = mixed(seed)
        return (0..<36).map { index in
            switch index {
            case 8, 13, 18, 23: return UInt8(ascii: "-")
            case 14: return UInt8(ascii: "4")
            case 19: return UInt8(ascii: "8")
            case 24...: return UInt8(ascii: "0")
            default:
                let nibble = UInt8(bits & 15)
                bits >>= 4
                return nibble < 10 ? 48 + nibble : 87 + nibble
            }
        }
    }

    private func reset(_ stream: Int32, _ code: nghttp2_error_code) {
        // This fails only without memory; the stream then stays without an answer.
        _ = nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
    }

    /// Sends the client new limits.
    func change(streamsMax: UInt32, window: Int32) {
        guard streamsMax != settings.streamsMax || window != settings.window else { return }
        settings.streamsMax = streamsMax
        settings.window = window
        // This fails only without memory; the old limits then stay.
        try? submitSettings()
    }

    private func submitSettings() throws(SessionError) {
        let streams = isThrottledToOneStream ? 1 : settings.streamsMax
        func entry(_ id: nghttp2_settings_id, _ value: UInt32) -> nghttp2_settings_entry {
            nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: value)
        }
        let entries = [
            entry(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, Session.headerTableBytes),
            entry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams),
            entry(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, UInt32(settings.window)),
            entry(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(Session.headerListBytesMax)),
        ]
        var code = nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
        if code == 0, settings.window > 65_535 {
            code = nghttp2_session_set_local_window_size(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, settings.window)
        }
        guard code == 0 else { throw Session.error(code, "nghttp2_submit_settings") }
    }

    private static func error(_ code: Int32, _ call: String) -> SessionError {
        SessionError(description: "\(call): \(String(cString: nghttp2_strerror(code)))")
    }
}

/// The C callbacks of nghttp2. Each finds its session and passes Swift values on; none keeps a pointer.
private struct SessionCallbacks: @unchecked Sendable {
    // Written once before any session exists; nghttp2 only reads them.
    let callbacks: OpaquePointer?
    let options: OpaquePointer?

    static let shared = SessionCallbacks()

    private init() {
        var callbacks: OpaquePointer?
        // This fails only without memory; making a session then fails with an error that says so.
        nghttp2_session_callbacks_new(&callbacks)
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, beginHeaders)
        nghttp2_session_callbacks_set_on_header_callback(callbacks, header)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frameReceived)
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, frameSent)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, streamClosed)
        self.callbacks = callbacks
        var options: OpaquePointer?
        nghttp2_option_new(&options)
        // Closed streams would be kept for a priority tree that is never used.
        nghttp2_option_set_no_closed_streams(options, 1)
        self.options = options
    }

    static let readBody: nghttp2_data_source_read_callback = { _, stream, space, count, flags, _, user in
        guard let space, let flags else { return 0 }
        return with(user, otherwise: 0) { session in
            let (read, isLast) = session.readBody(
                stream, into: UnsafeMutableRawBufferPointer(start: space, count: count))
            if isLast { flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
            return read
        }
    }
}

/// Calls `body` with the session behind `user`. The session outlives nghttp2's object, which it deletes, so no call needs a retain, and
/// there are fifteen calls per request.
@inline(__always)
private func with<Result>(_ user: UnsafeMutableRawPointer?, otherwise: Result, _ body: (Session) -> Result) -> Result {
    guard let user else { return otherwise }
    return Unmanaged<Session>.fromOpaque(user)._withUnsafeGuaranteedRef(body)
}

private let beginHeaders: nghttp2_on_begin_headers_callback = { _, frame, user in
    guard let frame else { return 0 }
    return with(user, otherwise: 0) { session in
        session.beginHeaders(frame.pointee.hd.stream_id)
        return 0
    }
}

private let header: nghttp2_on_header_callback = { _, frame, name, nameCount, value, valueCount, _, user in
    guard let frame else { return 0 }
    let isBounded = with(user, otherwise: true) {
        $0.header(
            frame.pointee.hd.stream_id, UnsafeRawBufferPointer(start: name, count: nameCount),
            UnsafeRawBufferPointer(start: value, count: valueCount))
    }
    return isBounded ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
}

private let data: nghttp2_on_data_chunk_recv_callback = { _, _, stream, bytes, count, user in
    with(user, otherwise: ()) { $0.data(stream, UnsafeRawBufferPointer(start: bytes, count: count)) }
    return 0
}

private let frameReceived: nghttp2_on_frame_recv_callback = { _, frame, user in
    guard let frame else { return 0 }
    let head = frame.pointee.hd
    let endsStream = head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
    let type = UInt32(head.type)
    guard endsStream, type == NGHTTP2_DATA.rawValue || type == NGHTTP2_HEADERS.rawValue else { return 0 }
    let goesOn = with(user, otherwise: true) { $0.endOfRequest(head.stream_id) }
    return goesOn ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
}

private let frameSent: nghttp2_on_frame_send_callback = { _, frame, user in
    guard let frame, UInt32(frame.pointee.hd.type) == NGHTTP2_HEADERS.rawValue else { return 0 }
    with(user, otherwise: ()) { $0.answerSent(frame.pointee.hd.stream_id) }
    return 0
}

private let streamClosed: nghttp2_on_stream_close_callback = { _, stream, _, user in
    with(user, otherwise: ()) { $0.streamClosed(stream) }
    return 0
}
