import CFanfareNghttp2
import FanfareHTTP2

/// Our session beside nghttp2's client: both have made the same requests and hear the same server. They must agree on
/// whether the server may go on, and on what became of each request.
package enum Beside {
    /// Whole frames only: what both make of half a frame differs, and neither is wrong.
    package struct Frame: Sendable, CustomStringConvertible {
        package var type: UInt8
        package var flags: UInt8
        package var stream: UInt32
        package var payload: [UInt8]

        package init(type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
            self.type = type
            self.flags = flags
            self.stream = stream
            self.payload = payload
        }

        package var bytes: [UInt8] {
            func big(_ value: UInt32) -> [UInt8] {
                (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
            }
            return big(UInt32(payload.count)).dropFirst() + [type, flags] + big(stream) + payload
        }

        /// Of PRIORITY, or of HEADERS with the priority flag.
        var dependsOnItself: Bool {
            guard type == 2 || flags & 32 != 0 else { return false }
            let start = type == 1 && flags & 8 != 0 ? 1 : 0
            let parent = payload.dropFirst(start).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return parent & 0x7fff_ffff == stream
        }

        package var description: String { "type \(type), flags \(flags), stream \(stream), \(payload)" }
    }

    /// End of a request.
    enum End: Equatable {
        case open, answered(Int), notProcessed, reset

        var isWithoutContent: Bool { self == .answered(204) || self == .answered(304) }
    }

    /// Of requests on streams 1, 3, 5 and 7.
    static let requests = 4
    private static let requestBody: [UInt8] = [0x7b, 0x7d]

    /// - Returns: the first frame after which the two are not of one mind, in words; `nil` when they are to the end.
    package static func disagreement(over frames: [Frame]) -> String? {
        var ours = Ours()
        let theirs = Theirs()
        for (index, frame) in frames.enumerated() {
            ours.receive(frame.bytes)
            theirs.receive(frame.bytes)
            if ours.failure != nil || theirs.hasFailed {
                // Beyond this frame nothing counts; what a broken connection does to its streams is its own affair.
                let isTaste =
                    theirs.hasFailed ? isStricter(on: frame, than: ours.ends) : areWeStricter(on: frame, ours.failure)
                if (ours.failure != nil) == theirs.hasFailed || isTaste { return nil }
                return "frame \(index), \(frame): ours \(ours.failure ?? "goes on"), "
                    + "nghttp2 \(theirs.hasFailed ? "fails" : "goes on")"
            }
            // It judges a header block as it comes, we when it is complete.
            if frame.type == 1 || frame.type == 9, frame.flags & 4 == 0 { continue }
            // nghttp2 leaves out a field that it does not like where we reset the stream, as RFC 9113 §8.2 has it.
            let ends = (0..<requests).filter { ours.ends[$0] != theirs.ends[$0] && !theirs.hasDropped[$0] }
            // More DATA than content-length allows: it gives up the stream at once, we at its end.
            if frame.type == 0, frame.flags & 1 == 0, ends.contains(where: { ours.ends[$0] == .open }) { return nil }
            // A status that is none (RFC 9110 §15): no answer for us, and one like any other for it.
            if ends.contains(where: { ours.ends[$0] == .reset && theirs.hasNoStatus($0) }) { return nil }
            // A content-length among trailers, which are none of our business (RFC 9110 §6.5.1).
            if ends.contains(where: { theirs.hasTrailers[$0] && theirs.ends[$0] == .reset }) { return nil }
            // Content where the status says that there is none (RFC 9110 §15.3.5): for it the answer is malformed, for us one.
            if frame.type == 0, ends.contains(where: { ours.ends[$0].isWithoutContent && theirs.ends[$0] == .reset }) {
                return nil
            }
            if let request = ends.first {
                return "frame \(index), \(frame): request \(request) ours \(ours.ends[request]), "
                    + "nghttp2 \(theirs.ends[request])"
            }
            // nghttp2 listens no longer when a GOAWAY has been obeyed.
            if theirs.hasDropped.contains(true) || theirs.isFinished { return nil }
        }
        return nil
    }

    /// Where nghttp2 gives up the connection and RFC 9113 does not ask for it.
    private static func isStricter(on frame: Frame, than ends: [End]) -> Bool {
        switch frame.type {
        // DATA before the answer's HEADERS: we give up the stream (§8.1.1).
        case 0: request(Int32(frame.stream)).map { ends[$0] == .reset } ?? false
        // A stream that depends on itself (RFC 7540 §5.3.1): RFC 9113 has no dependencies left.
        case 1 where frame.dependsOnItself, 2 where frame.dependsOnItself: true
        // It reads a header block as it comes, we when it is complete.
        case 1, 9: frame.flags & 4 == 0
        // More than 32 settings, or values of extensions that we have not heard of and so ignore (RFC 8441, RFC 9218).
        case 4:
            frame.payload.count > 32 * 6
                || stride(from: 0, to: frame.payload.count - 5, by: 6).contains {
                    frame.payload[$0] == 0 && [8, 9].contains(frame.payload[$0 + 1])
                }
        // A GOAWAY that takes back what an earlier one said (§6.8): we go on with what is in flight.
        case 7: true
        // An increment of 0 (§6.9): we give up the stream.
        case 8: frame.stream != 0 && frame.payload == [0, 0, 0, 0]
        default: false
        }
    }

    /// Where we give up the connection and nghttp2 waits or lets it pass.
    private static func areWeStricter(on frame: Frame, _ failure: String?) -> Bool {
        switch frame.type {
        // It does not look at the padding of DATA for a stream that is over.
        case 0: failure?.hasPrefix("padd") == true
        // A third table size update (RFC 7541 §4.2).
        case 1, 9: failure?.contains("size update") == true
        // Of a setting that comes twice it reads the last; a window that overflows does not matter to it where nothing
        // is left to send.
        case 4: frame.payload.count > 6 || failure?.contains("overflows that of stream") == true
        // Its server may not have read yet that push is off.
        case 5: true
        default: false
        }
    }

    private static func request(_ stream: Int32) -> Int? {
        let index = Int(stream) / 2
        return stream > 0 && stream % 2 == 1 && index < requests ? index : nil
    }

    /// Frames for a fuzzer: type, flags, stream, length, and so many bytes; the server's SETTINGS come first.
    static func frames(_ bytes: [UInt8]) -> [Frame] {
        var frames = [Frame(type: 4)]
        var rest = bytes[...]
        while rest.count >= 4 {
            let head = Array(rest.prefix(4))
            let payload = Array(rest.dropFirst(4).prefix(Int(head[3])))
            frames.append(Frame(type: head[0] % 12, flags: head[1], stream: UInt32(head[2] % 16), payload))
            rest = rest.dropFirst(4 + payload.count)
        }
        return frames
    }

    // MARK: - The two

    struct Ours: ~Copyable {
        private var session: ClientSession
        private var batch = EventBatch()
        private(set) var ends = [End](repeating: .open, count: requests)
        private(set) var failure: String?

        init() {
            var configuration = ClientSession.Configuration()
            // nghttp2 keeps whatever comes.
            configuration.bodyMax = 1 << 20
            session = ClientSession(configuration: configuration)
            let shape = RequestShape(authority: "localhost", fields: [HeaderField("apns-priority", "5")])
            let token: [UInt8] = [1, 2, 3, 4]
            for tag in 0..<requests {
                _ = session.request(shape: shape, token: token.span, body: requestBody, tag: UInt64(tag))
            }
            session.take(session.outputCount)
        }

        mutating func receive(_ bytes: [UInt8]) {
            bytes.withUnsafeBytes { session.receive($0) }
            session.take(session.outputCount)
            session.takeEvents(into: &batch)
            for event in batch.events {
                switch event {
                case .response(let response): ends[Int(response.tag)] = .answered(response.status)
                case .notProcessed(let tag): ends[Int(tag)] = .notProcessed
                case .lost(let tag, _): ends[Int(tag)] = .reset
                case .failed(_, let text): failure = batch.text(text)
                case .goAway, .settingsChanged, .pong, .exhausted: break
                }
            }
        }
    }

    final class Theirs {
        private var session: OpaquePointer?
        private(set) var ends = [End](repeating: .open, count: requests)
        private(set) var hasFailed = false
        /// A field of this request's answer was left out.
        private(set) var hasDropped = [Bool](repeating: false, count: requests)
        private(set) var hasTrailers = [Bool](repeating: false, count: requests)
        private var statuses = [Int](repeating: 0, count: requests)
        private var isComplete = [Bool](repeating: false, count: requests)

        /// Returns `true` if the answer, complete or not, has a status that is none.
        func hasNoStatus(_ request: Int) -> Bool {
            !(100...599 ~= statuses[request]) && (statuses[request] != 0 || ends[request] == .answered(0))
        }

        private static func from(_ pointer: UnsafeMutableRawPointer?) -> Theirs {
            // Every callback gets what `init` gave: this object, which outlives its session.
            Unmanaged<Theirs>.fromOpaque(pointer!).takeUnretainedValue()
        }

        init() {
            var callbacks: OpaquePointer?
            nghttp2_session_callbacks_new(&callbacks)
            defer { nghttp2_session_callbacks_del(callbacks) }
            nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, me in
                guard let frame, let request = Beside.request(frame.pointee.hd.stream_id) else { return 0 }
                let it = Theirs.from(me)
                if it.statuses[request] >= 200 { it.hasTrailers[request] = true }
                return 0
            }
            nghttp2_session_callbacks_set_on_header_callback(callbacks) {
                _, frame, name, nameCount, value, valueCount, _, me in
                guard let frame, let request = Beside.request(frame.pointee.hd.stream_id) else { return 0 }
                let name = String(decoding: UnsafeBufferPointer(start: name, count: nameCount), as: UTF8.self)
                let value = String(decoding: UnsafeBufferPointer(start: value, count: valueCount), as: UTF8.self)
                if name == ":status" { Theirs.from(me).statuses[request] = Int(value) ?? 0 }
                return 0
            }
            nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, frame, _, _, _, _, _, me in
                guard let frame, let request = Beside.request(frame.pointee.hd.stream_id) else { return 0 }
                Theirs.from(me).hasDropped[request] = true
                return 0
            }
            nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, me in
                guard let head = frame?.pointee.hd, let request = Beside.request(head.stream_id) else { return 0 }
                let type = UInt32(head.type)
                guard type == NGHTTP2_DATA.rawValue || type == NGHTTP2_HEADERS.rawValue,
                    head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
                else { return 0 }
                Theirs.from(me).isComplete[request] = true
                return 0
            }
            nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, me in
                guard let request = Beside.request(stream) else { return 0 }
                let it = Theirs.from(me)
                if it.isComplete[request], code == NGHTTP2_NO_ERROR.rawValue {
                    it.ends[request] = .answered(it.statuses[request])
                } else {
                    it.ends[request] = code == NGHTTP2_REFUSED_STREAM.rawValue ? .notProcessed : .reset
                }
                return 0
            }
            nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, me in
                guard let frame, UInt32(frame.pointee.hd.type) == NGHTTP2_GOAWAY.rawValue else { return 0 }
                Theirs.from(me).hasFailed = true
                return 0
            }
            nghttp2_session_client_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque())
            let settings = [
                nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: 16_384),
            ]
            nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
            nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, 1 << 20)
            for _ in 0..<requests { submitRequest() }
            send()
        }

        deinit { nghttp2_session_del(session) }

        private func submitRequest() {
            let fields: [(StaticString, StaticString)] = [
                (":method", "POST"), (":scheme", "https"), (":authority", "localhost"), (":path", "/3/device/01020304"),
            ]
            // Names and values are constants of the program; nghttp2 copies them all the same.
            let entries = fields.map { name, value in
                nghttp2_nv(
                    name: UnsafeMutablePointer(mutating: name.utf8Start),
                    value: UnsafeMutablePointer(mutating: value.utf8Start), namelen: name.utf8CodeUnitCount,
                    valuelen: value.utf8CodeUnitCount, flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
            }
            // A body equal to ours: sent bytes count against the stream's window.
            var body = nghttp2_data_provider()
            body.read_callback = { _, _, buffer, _, flags, _, _ in
                // nghttp2 asks for as much as fits into a frame, and no stream has less than its first window.
                buffer?.update(from: requestBody, count: requestBody.count)
                flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
                return requestBody.count
            }
            nghttp2_submit_request(session, nil, entries, entries.count, &body, nil)
        }

        func receive(_ bytes: [UInt8]) {
            if nghttp2_session_mem_recv(session, bytes, bytes.count) < 0 { hasFailed = true }
            send()
        }

        var isFinished: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

        private func send() {
            var bytes: UnsafePointer<UInt8>?
            while nghttp2_session_mem_send(session, &bytes) > 0 {}
        }
    }
}
