import FanfareHTTP2
import Testing

@testable import APNsSimulator

/// The fast mode's HTTP/2 without a network; its frames are written by hand.
@Suite struct FastSessionTests {
    private struct Frame: Equatable {
        let type: UInt8
        let flags: UInt8
        let stream: UInt32
        let payload: [UInt8]
    }

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private static let begin = preface + frame(FrameType.settings)

    private static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let length = UInt32(payload.count)
        return big(length << 8 | UInt32(type)) + [flags] + big(stream) + payload
    }

    private static func big(_ value: UInt32) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }

    /// Returns the headers of a POST or GET whose path is a literal.
    private static func head(_ path: String, isPost: Bool = true) -> [UInt8] {
        [isPost ? 0x83 : 0x82, 0x87, 0x04, UInt8(path.utf8.count)] + Array(path.utf8)
    }

    private static func session(_ settings: FastSettings = .init()) -> FastSession {
        FastSession(settings: settings, service: FastService(seed: 1, deadShare: 0))
    }

    private static func receive(_ bytes: [UInt8], by session: FastSession) -> String? {
        bytes.withUnsafeBytes { session.receive($0, at: 0) }
    }

    private static func frames(from session: FastSession) -> [Frame] {
        var bytes: [UInt8] = []
        session.takeOutput { bytes += Array($0) }
        var frames: [Frame] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let header = FrameHeader(Array(rest.prefix(9)).span)
            frames.append(
                Frame(
                    type: header.type, flags: header.flags, stream: header.stream,
                    payload: Array(rest.dropFirst(9).prefix(header.length))))
            rest = rest.dropFirst(9 + header.length)
        }
        return frames
    }

    @Test func anOffenceAgainstHTTP2EndsInAGoAwayWithItsCode() {
        typealias Test = FastSessionTests
        let open = Test.frame(FrameType.headers, flags: FrameFlag.endHeaders, stream: 1, Test.head("/3/device/aa"))
        let cases: [(String, [UInt8], ErrorCode)] = [
            ("garbage", Array("GET / HTTP/1.1\r\n".utf8), .protocolError),
            (
                "first frame", Test.preface + Test.frame(FrameType.ping, stream: 0, Test.big(1) + Test.big(1)),
                .protocolError
            ),
            (
                "too long", Test.begin + Test.frame(FrameType.data, stream: 1, .init(repeating: 0, count: 16_385)),
                .frameSizeError
            ),
            ("idle stream", Test.begin + Test.frame(FrameType.data, stream: 1, [1]), .protocolError),
            (
                "even stream",
                Test.begin + Test.frame(FrameType.headers, flags: FrameFlag.endHeaders, stream: 2, [0x82]),
                .protocolError
            ),
            (
                "no such index",
                Test.begin + Test.frame(FrameType.headers, flags: FrameFlag.endHeaders, stream: 1, [0xff, 0x7f]),
                .compressionError
            ),
            ("lone CONTINUATION", Test.begin + Test.frame(FrameType.continuation, stream: 1, [1]), .protocolError),
            (
                "CONTINUATION without end",
                Test.begin + Test.frame(FrameType.headers, stream: 1, [0x82])
                    + (0..<40).flatMap { _ in
                        Test.frame(FrameType.continuation, stream: 1, .init(repeating: 0x82, count: 999))
                    },
                .enhanceYourCalm
            ),
            (
                "empty CONTINUATION",
                Test.begin + Test.frame(FrameType.headers, stream: 1, [0x82])
                    + Test.frame(FrameType.continuation, stream: 1),
                .enhanceYourCalm
            ),
            (
                "another frame inside a block",
                Test.begin + Test.frame(FrameType.headers, stream: 1, [0x82])
                    + Test.frame(FrameType.ping, Test.big(1) + Test.big(1)),
                .protocolError
            ),
            (
                "padding", Test.begin + open + Test.frame(FrameType.data, flags: FrameFlag.padded, stream: 1, [2, 0]),
                .protocolError
            ),
            ("trailers that do not end", Test.begin + open + open, .protocolError),
            ("no increment", Test.begin + Test.frame(FrameType.windowUpdate, Test.big(0)), .protocolError),
            (
                "window overflow", Test.begin + Test.frame(FrameType.windowUpdate, Test.big(0x7fff_ffff)),
                .flowControlError
            ),
            ("SETTINGS of 5", Test.begin + Test.frame(FrameType.settings, [1, 2, 3, 4, 5]), .frameSizeError),
            (
                "initial window", Test.begin + Test.frame(FrameType.settings, [0, 4] + Test.big(0x8000_0000)),
                .flowControlError
            ),
            ("PING of 7", Test.begin + Test.frame(FrameType.ping, .init(repeating: 0, count: 7)), .frameSizeError),
            (
                "RST_STREAM of 3", Test.begin + open + Test.frame(FrameType.resetStream, stream: 1, [1, 2, 3]),
                .frameSizeError
            ),
            (
                "PUSH_PROMISE", Test.begin + Test.frame(FrameType.pushPromise, stream: 1, [1, 2, 3, 4]),
                .protocolError
            ),
        ]
        for (name, bytes, code) in cases {
            // The bytes come in one piece, and one by one.
            for step in [bytes.count, 1] {
                let session = Test.session()
                var fault: String?
                for start in stride(from: 0, to: bytes.count, by: step) {
                    fault = fault ?? Test.receive(Array(bytes[start..<min(start + step, bytes.count)]), by: session)
                }
                #expect(fault != nil && session.isClosed, "\(name)")
                let last = Test.frames(from: session).last
                #expect(last?.type == FrameType.goAway, "\(name)")
                #expect(last?.payload.dropFirst(4).prefix(4).elementsEqual(Test.big(code.rawValue)) == true, "\(name)")
                // Later bytes are ignored.
                #expect(Test.receive(Test.begin + open, by: session) == nil)
                #expect(Test.frames(from: session).isEmpty)
            }
        }
    }

    @Test func refusalsNameTheirReason() throws {
        let session = FastSessionTests.session()
        let cases: [(head: [UInt8], body: [UInt8], status: String, reason: String)] = [
            (FastSessionTests.head("/3/device/aa", isPost: false), [1], "405", "MethodNotAllowed"),
            (FastSessionTests.head("/2/device/aa"), [1], "404", "BadPath"),
            (FastSessionTests.head("/3/device/"), [1], "400", "MissingDeviceToken"),
            (FastSessionTests.head("/3/device/aag0"), [1], "400", "BadDeviceToken"),
            (FastSessionTests.head("/3/device/aaa"), [1], "400", "BadDeviceToken"),
            (FastSessionTests.head("/3/device/aa"), [], "400", "PayloadEmpty"),
            (FastSessionTests.head("/3/device/aa"), .init(repeating: 1, count: 4097), "413", "PayloadTooLarge"),
        ]
        #expect(FastSessionTests.receive(FastSessionTests.begin, by: session) == nil)
        _ = FastSessionTests.frames(from: session)
        for (index, test) in cases.enumerated() {
            let stream = UInt32(2 * index + 1)
            let request =
                FastSessionTests.frame(FrameType.headers, flags: FrameFlag.endHeaders, stream: stream, test.head)
                + FastSessionTests.frame(FrameType.data, flags: FrameFlag.endStream, stream: stream, test.body)
            #expect(FastSessionTests.receive(request, by: session) == nil)
            // The used part of the connection's window is returned, too.
            let frames = FastSessionTests.frames(from: session).filter { $0.type != FrameType.windowUpdate }
            let reason = Array("{\"reason\":\"\(test.reason)\"}".utf8)
            #expect(
                frames.map(\.type) == [FrameType.headers, FrameType.data] && frames.map(\.stream) == [stream, stream])
            #expect(frames.first?.payload == [0x08, 3] + Array(test.status.utf8))
            #expect(frames.last?.payload == reason && frames.last?.flags == FrameFlag.endStream)
        }
        // A block without a request, and one with a field too many.
        let malformed = FastSessionTests.frame(FrameType.headers, flags: FrameFlag.endHeaders, stream: 101, [0x83])
        #expect(FastSessionTests.receive(malformed, by: session) == nil)
        #expect(FastSessionTests.frames(from: session).map(\.type) == [FrameType.resetStream])
        let full = FastSessionTests.session(.init(streamsMax: 1))
        let heads = [1, 3].flatMap {
            FastSessionTests.frame(
                FrameType.headers, flags: FrameFlag.endHeaders, stream: $0, FastSessionTests.head("/3/device/aa"))
        }
        #expect(FastSessionTests.receive(FastSessionTests.begin + heads, by: full) == nil)
        let refused = try #require(FastSessionTests.frames(from: full).last)
        #expect(refused.type == FrameType.resetStream && refused.stream == 3)
        #expect(refused.payload == FastSessionTests.big(ErrorCode.refusedStream.rawValue))
    }

    /// A block that was seen before has another meaning after a change of the table.
    @Test func equalBlocksMeanWhatTheTableSays() {
        let session = FastSessionTests.session()
        #expect(FastSessionTests.receive(FastSessionTests.begin, by: session) == nil)
        _ = FastSessionTests.frames(from: session)
        func isAccepted(_ method: [UInt8], stream: UInt32) -> Bool {
            let head = method + FastSessionTests.head("/3/device/aa").dropFirst()
            let request =
                FastSessionTests.frame(FrameType.headers, flags: FrameFlag.endHeaders, stream: stream, head)
                + FastSessionTests.frame(FrameType.data, flags: FrameFlag.endStream, stream: stream, [1])
            #expect(FastSessionTests.receive(request, by: session) == nil)
            return FastSessionTests.frames(from: session).first?.payload == [0x88]
        }
        // `:method` with incremental indexing, then the newest entry by its index.
        #expect(isAccepted([0x42, 4] + Array("POST".utf8), stream: 1))
        #expect(isAccepted([0xbe], stream: 3) && isAccepted([0xbe], stream: 5))
        #expect(!isAccepted([0x42, 3] + Array("GET".utf8), stream: 7))
        #expect(!isAccepted([0xbe], stream: 9))
        #expect(isAccepted([0xbf], stream: 11))
    }

    @Test func reasonsWaitForTheClientsWindow() {
        let session = FastSessionTests.session(.init(streamsMax: 3000))
        var bytes = FastSessionTests.begin
        for index in 0..<3000 as Range<UInt32> {
            bytes += FastSessionTests.frame(
                FrameType.headers, flags: FrameFlag.endHeaders | FrameFlag.endStream, stream: 2 * index + 1,
                FastSessionTests.head("/3/device/aa", isPost: false))
        }
        #expect(FastSessionTests.receive(bytes, by: session) == nil)
        func answers() -> Int { FastSessionTests.frames(from: session).count { $0.type == FrameType.data } }
        let size = "{\"reason\":\"MethodNotAllowed\"}".utf8.count
        #expect(answers() == 65_535 / size && session.answersToCome == 3000 - 65_535 / size)
        let update = FastSessionTests.frame(FrameType.windowUpdate, FastSessionTests.big(1000))
        #expect(FastSessionTests.receive(update, by: session) == nil)
        #expect(answers() == (65_535 + 1000) / size - 65_535 / size)
    }

    @Test func aClientWithoutATableIsToldThatNoneIsUsed() {
        let session = FastSessionTests.session()
        let requests = [1, 3].flatMap {
            FastSessionTests.frame(
                FrameType.headers, flags: FrameFlag.endHeaders, stream: $0, FastSessionTests.head("/3/device/aa"))
                + FastSessionTests.frame(FrameType.data, flags: FrameFlag.endStream, stream: $0, [1])
        }
        let settings = FastSessionTests.frame(FrameType.settings, [0, 1] + FastSessionTests.big(0))
        #expect(FastSessionTests.receive(FastSessionTests.preface + settings + requests, by: session) == nil)
        let answers = FastSessionTests.frames(from: session).filter { $0.type == FrameType.headers }
        #expect(answers.map(\.payload) == [[0x20, 0x88], [0x88]])
    }

    /// Bodies of any length are read to their end, and no window ever runs dry.
    @Test func endlessBodiesGetTheirWindowBack() {
        let session = FastSessionTests.session()
        let head = FastSessionTests.frame(
            FrameType.headers, flags: FrameFlag.endHeaders, stream: 1, FastSessionTests.head("/3/device/aa"))
        #expect(FastSessionTests.receive(FastSessionTests.begin + head, by: session) == nil)
        var windows: [UInt32: Int] = [0: 65_535, 1: 65_535]
        for _ in 0..<4000 {
            for update in FastSessionTests.frames(from: session) where update.type == FrameType.windowUpdate {
                let increment = update.payload.reduce(0) { $0 << 8 | Int($1) }
                windows[update.stream, default: 0] += increment
            }
            let piece = [UInt8](repeating: 7, count: 16_384)
            for stream in windows.keys { windows[stream]? -= piece.count }
            #expect(windows.values.allSatisfy { $0 >= 0 })
            let fault = FastSessionTests.receive(
                FastSessionTests.frame(FrameType.data, stream: 1, piece), by: session)
            #expect(fault == nil)
        }
        let end = FastSessionTests.frame(FrameType.data, flags: FrameFlag.endStream, stream: 1)
        #expect(FastSessionTests.receive(end, by: session) == nil)
        #expect(FastSessionTests.frames(from: session).first { $0.type == FrameType.headers }?.payload.last == 0x33)
    }

    @Test func aSmallWindowIsTheProtocolsAndComesBackAsItIsUsed() {
        let session = FastSessionTests.session(FastSettings(window: 65_535))
        #expect(FastSessionTests.receive(FastSessionTests.begin, by: session) == nil)
        #expect(!FastSessionTests.frames(from: session).contains { $0.type == FrameType.windowUpdate })
        let open = FastSessionTests.frame(
            FrameType.headers, flags: FrameFlag.endHeaders, stream: 1, FastSessionTests.head("/3/device/aa"))
        let body = FastSessionTests.frame(FrameType.data, stream: 1, Array(repeating: 0, count: 5000))
        func given() -> Int {
            FastSessionTests.frames(from: session).filter { $0.type == FrameType.windowUpdate && $0.stream == 0 }
                .reduce(0) { $1.payload.reduce(0) { $0 << 8 | Int($1) } + $0 }
        }
        #expect(FastSessionTests.receive(open + body, by: session) == nil)
        #expect(given() == 5000)
        // Half a body completes no request.
        #expect(FastSessionTests.receive(Array(body.prefix(3000)), by: session) == nil)
        #expect(given() == 0)
        #expect(FastSessionTests.receive(Array(body.dropFirst(3000)), by: session) == nil)
        #expect(given() == 5000)
        // Thirteen bodies fit, and one more does not.
        let all = Array([[UInt8]](repeating: body, count: 13).joined())
        #expect(FastSessionTests.receive(all, by: session) == nil)
        #expect(given() == 65_000)
        #expect(FastSessionTests.receive(all + body, by: session) != nil)
    }

    /// A few bytes of valid input are wrong: nothing traps, whatever meaning they get.
    @Test func wrongBytesDoNoHarm() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = seed
        func draw(_ bound: Int) -> Int {
            random = mixed(random)
            return Int(random % UInt64(bound))
        }
        var good = FastSessionTests.begin
        for index in 0..<20 as Range<UInt32> {
            good += FastSessionTests.frame(
                FrameType.headers, flags: FrameFlag.endHeaders, stream: 2 * index + 1,
                FastSessionTests.head("/3/device/aabbccddeeff0011") + [0x40, 1, 0x61, 1, UInt8(index)])
            good += FastSessionTests.frame(
                FrameType.data, flags: FrameFlag.endStream | FrameFlag.padded, stream: 2 * index + 1, [2, 1, 1, 0, 0])
        }
        var faults = 0
        for _ in 0..<3000 {
            var bytes = good
            for _ in 0...draw(4) { bytes[draw(bytes.count)] = UInt8(draw(256)) }
            let session = FastSessionTests.session()
            if FastSessionTests.receive(bytes, by: session) != nil { faults += 1 }
            #expect(FastSessionTests.frames(from: session).count < 500, "seed \(seed)")
        }
        #expect(faults > 300 && faults < 3000, "seed \(seed)")
    }
}
