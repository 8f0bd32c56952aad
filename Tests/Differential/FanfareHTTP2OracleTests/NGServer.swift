import CFanfareNghttp2

/// An HTTP/2 server on nghttp2, in memory: bytes in, bytes out. Answers each request as `answer` says.
final class NGServer {
    struct Request: Equatable {
        var stream: Int32
        var fields: [(name: String, value: String)] = []
        var body: [UInt8] = []

        subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
        static func == (a: Request, b: Request) -> Bool {
            a.stream == b.stream && a.body == b.body && a.fields.elementsEqual(b.fields, by: ==)
        }
    }

    struct Answer {
        var fields: [(String, String)] = [(":status", "200")]
        var body: [UInt8] = []
        var trailers: [(String, String)] = []
        /// nil: answered only when the test says so.
        var hold = false
        var reset: UInt32?
    }

    var answer: (Request) -> Answer = { _ in Answer() }
    private(set) var requests: [Request] = []
    private(set) var resets: [(stream: Int32, code: UInt32)] = []
    private(set) var pings = 0
    /// Complaints of nghttp2 about frames, except streams above a limit that we could not know of yet.
    private(set) var complaints: [String] = []
    private var open: [Int32: Request] = [:]
    private var bodies: [Int32: (bytes: [UInt8], trailers: [(String, String)])] = [:]
    private var session: OpaquePointer?

    init(settings: [(Int32, UInt32)] = [], connectionWindow: Int32? = nil, manualWindows: Bool = false) {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameCount, value, valueCount, _, me in
            guard let frame, let name, let value else { return 0 }
            NGServer.from(me).open[frame.pointee.hd.stream_id, default: Request(stream: frame.pointee.hd.stream_id)]
                .fields.append((NGServer.text(name, nameCount), NGServer.text(value, valueCount)))
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, me in
            NGServer.from(me).open[stream]?.body.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, me in
            guard let header = frame?.pointee.hd else { return 0 }
            let server = NGServer.from(me)
            switch nghttp2_frame_type(UInt32(header.type)) {
            case NGHTTP2_PING: server.pings += 1
            case NGHTTP2_HEADERS, NGHTTP2_DATA:
                if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 { server.finish(header.stream_id) }
            case NGHTTP2_RST_STREAM:
                if let frame { server.resets.append((header.stream_id, frame.pointee.rst_stream.error_code)) }
            default: break
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, code, me in
            guard code != NGHTTP2_ERR_REFUSED_STREAM.rawValue, let header = frame?.pointee.hd else { return 0 }
            NGServer.from(me).complaints.append(
                "type \(header.type) on stream \(header.stream_id): \(String(cString: nghttp2_strerror(code)))")
            return 0
        }
        var option: OpaquePointer?
        nghttp2_option_new(&option)
        defer { nghttp2_option_del(option) }
        nghttp2_option_set_no_auto_window_update(option, manualWindows ? 1 : 0)
        nghttp2_session_server_new2(&session, callbacks, Unmanaged.passUnretained(self).toOpaque(), option)
        change(settings)
        if let connectionWindow {
            nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, connectionWindow)
        }
    }

    deinit { nghttp2_session_del(session) }

    private static func from(_ pointer: UnsafeMutableRawPointer?) -> NGServer {
        // Every callback gets what `init` gave: this object, which outlives its session.
        Unmanaged<NGServer>.fromOpaque(pointer!).takeUnretainedValue()
    }

    private static func text(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    private func finish(_ stream: Int32) {
        guard let request = open.removeValue(forKey: stream) else { return }
        requests.append(request)
        let answer = answer(request)
        if !answer.hold { respond(stream, answer) }
    }

    // MARK: What tests do

    func change(_ settings: [(Int32, UInt32)]) {
        let entries = settings.map { nghttp2_settings_entry(settings_id: $0.0, value: $0.1) }
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    func consume(_ stream: Int32, _ count: Int) { nghttp2_session_consume(session, stream, count) }

    func respond(_ stream: Int32, _ answer: Answer) {
        if let code = answer.reset {
            nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
            return
        }
        withFields(answer.fields) { fields, count in
            guard !answer.body.isEmpty || !answer.trailers.isEmpty else {
                nghttp2_submit_response(session, stream, fields, count, nil)
                return
            }
            bodies[stream] = (answer.body, answer.trailers)
            var provider = nghttp2_data_provider()
            provider.source.ptr = Unmanaged.passUnretained(self).toOpaque()
            provider.read_callback = { session, stream, buffer, room, flags, _, me in
                let server = NGServer.from(me)
                guard let buffer, let flags, let body = server.bodies[stream] else { return 0 }
                let count = min(room, body.bytes.count)
                for index in 0..<count { buffer[index] = body.bytes[index] }
                server.bodies[stream]?.bytes.removeFirst(count)
                if count == body.bytes.count {
                    flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
                    if !body.trailers.isEmpty {
                        flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
                        server.withFields(body.trailers) { nghttp2_submit_trailer(session, stream, $0, $1) }
                    }
                }
                return count
            }
            nghttp2_submit_response(session, stream, fields, count, &provider)
        }
    }

    func interim(_ stream: Int32, status: String) {
        withFields([(":status", status)]) {
            nghttp2_submit_headers(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, $0, $1, nil)
        }
    }

    func goAway(lastStream: Int32, code: UInt32, debug: String) {
        let bytes = Array(debug.utf8)
        nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastStream, code, bytes, bytes.count)
    }

    func ping() { nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

    /// - Returns: nghttp2's error, or the number of bytes taken: all of them.
    @discardableResult
    func receive(_ bytes: [UInt8]) -> Int { nghttp2_session_mem_recv(session, bytes, bytes.count) }

    func output() -> [UInt8] {
        var all: [UInt8] = []
        while true {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count > 0, let bytes else { return all }
            all.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
        }
    }

    private func withFields(_ fields: [(String, String)], _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Void) {
        withNameValues(fields.map { (Array($0.0.utf8), Array($0.1.utf8)) }) { body($0.baseAddress, $0.count) }
    }
}

/// Fields in nghttp2's form, valid during the call.
func withNameValues<Result>(
    _ fields: [(name: [UInt8], value: [UInt8])], noIndex: [Bool] = [],
    _ body: (UnsafeMutableBufferPointer<nghttp2_nv>) -> Result
) -> Result {
    let storage = fields.map { field in
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: field.name.count + field.value.count + 1)
        _ = copy.initialize(from: field.name + field.value + [0])
        return copy
    }
    defer { for copy in storage { copy.deallocate() } }
    var entries = zip(fields, storage).enumerated().map { index, pair in
        nghttp2_nv(
            name: pair.1.baseAddress, value: pair.1.baseAddress.map { $0 + pair.0.name.count },
            namelen: pair.0.name.count, valuelen: pair.0.value.count,
            flags: UInt8(
                index < noIndex.count && noIndex[index] ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : 0))
    }
    return entries.withUnsafeMutableBufferPointer { body($0) }
}
