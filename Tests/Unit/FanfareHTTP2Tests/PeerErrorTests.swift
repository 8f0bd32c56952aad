import HTTP2TestSupport
import Testing

@testable import FanfareHTTP2

/// Offences of a peer, each with its error code (RFC 9113 §5 and §6).
@Suite struct PeerErrorTests {
    struct Offence: Sendable, CustomTestStringConvertible {
        let what: String
        let bytes: [UInt8]
        let code: ErrorCode
        var testDescription: String { what }
    }

    static let block: [UInt8] = [0x88]
    static let ping: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]

    /// Streams 1 and 3 are open, the next one is 5.
    static let offences: [Offence] = [
        .init(what: "frame too long", bytes: [0, 0x40, 1, 0xee, 0, 0, 0, 0, 0], code: .frameSizeError),
        .init(what: "DATA on stream 0", bytes: data(0, [1]), code: .protocolError),
        .init(what: "DATA on an idle stream", bytes: data(5, [1]), code: .protocolError),
        .init(what: "DATA on a stream of the server", bytes: data(2, [1]), code: .protocolError),
        .init(
            what: "DATA padded beyond its end", bytes: frame(0, flags: 8, stream: 1, [3, 1, 1]), code: .protocolError),
        .init(what: "DATA padded without a length", bytes: frame(0, flags: 8, stream: 1), code: .frameSizeError),
        .init(what: "HEADERS on stream 0", bytes: frame(1, flags: 5, stream: 0, block), code: .protocolError),
        .init(what: "HEADERS on an idle stream", bytes: frame(1, flags: 5, stream: 5, block), code: .protocolError),
        .init(
            what: "HEADERS on a stream of the server", bytes: frame(1, flags: 5, stream: 2, block),
            code: .protocolError),
        .init(
            what: "HEADERS padded beyond their end", bytes: frame(1, flags: 13, stream: 1, [1]), code: .protocolError),
        .init(
            what: "HEADERS without their priority", bytes: frame(1, flags: 37, stream: 1, [0, 0, 0, 0]),
            code: .frameSizeError),
        .init(what: "block that is no HPACK", bytes: frame(1, flags: 5, stream: 1, [0x80]), code: .compressionError),
        .init(
            what: "block on a closed stream that is no HPACK",
            bytes: frame(3, stream: 3, big(8)) + frame(1, flags: 5, stream: 3, [0xff]), code: .compressionError),
        .init(what: "PRIORITY on stream 0", bytes: frame(2, stream: 0, [0, 0, 0, 0, 1]), code: .protocolError),
        .init(what: "PRIORITY of 4 bytes", bytes: frame(2, stream: 1, [0, 0, 0, 0]), code: .frameSizeError),
        .init(what: "RST_STREAM on stream 0", bytes: frame(3, stream: 0, big(8)), code: .protocolError),
        .init(what: "RST_STREAM on an idle stream", bytes: frame(3, stream: 5, big(8)), code: .protocolError),
        .init(what: "RST_STREAM of 5 bytes", bytes: frame(3, stream: 1, big(8) + [0]), code: .frameSizeError),
        .init(what: "SETTINGS on a stream", bytes: frame(4, stream: 1), code: .protocolError),
        .init(what: "SETTINGS of 5 bytes", bytes: frame(4, [0, 1, 0, 0, 0]), code: .frameSizeError),
        .init(
            what: "acknowledgement with content", bytes: frame(4, flags: 1, [0, 1, 0, 0, 0, 0]),
            code: .frameSizeError),
        .init(what: "two acknowledgements", bytes: frame(4, flags: 1) + frame(4, flags: 1), code: .protocolError),
        .init(what: "push enabled", bytes: settings([(2, 1)]), code: .protocolError),
        .init(what: "initial window too large", bytes: settings([(4, 0x8000_0000)]), code: .flowControlError),
        .init(what: "frame size too small", bytes: settings([(5, 16_383)]), code: .protocolError),
        .init(what: "frame size too large", bytes: settings([(5, 0x100_0000)]), code: .protocolError),
        .init(
            what: "initial window that overflows a stream's",
            bytes: windowUpdate(1, 0x7fff_0000) + settings([(4, 0x7fff_ffff)]), code: .flowControlError),
        .init(what: "PUSH_PROMISE", bytes: frame(5, flags: 4, stream: 1, big(2) + block), code: .protocolError),
        .init(what: "PING on a stream", bytes: frame(6, stream: 1, ping), code: .protocolError),
        .init(what: "PING of 7 bytes", bytes: frame(6, [0, 0, 0, 0, 0, 0, 0]), code: .frameSizeError),
        .init(what: "GOAWAY on a stream", bytes: frame(7, stream: 1, ping), code: .protocolError),
        .init(what: "GOAWAY of 7 bytes", bytes: frame(7, [0, 0, 0, 0, 0, 0, 0]), code: .frameSizeError),
        .init(what: "WINDOW_UPDATE of 3 bytes", bytes: frame(8, stream: 1, [0, 0, 1]), code: .frameSizeError),
        .init(what: "WINDOW_UPDATE of nothing", bytes: windowUpdate(0, 0), code: .protocolError),
        .init(what: "WINDOW_UPDATE on an idle stream", bytes: windowUpdate(5, 1), code: .protocolError),
        .init(
            what: "WINDOW_UPDATE that overflows the connection's", bytes: windowUpdate(0, 0x7fff_ffff),
            code: .flowControlError),
        .init(what: "CONTINUATION alone", bytes: frame(9, flags: 4, stream: 1, block), code: .protocolError),
        .init(
            what: "CONTINUATION after a complete block",
            bytes: frame(1, flags: 4, stream: 1, block) + frame(9, flags: 4, stream: 1, block), code: .protocolError),
        .init(
            what: "PING inside a block", bytes: frame(1, stream: 1, block) + frame(6, ping), code: .protocolError),
        .init(
            what: "unknown frame inside a block", bytes: frame(1, stream: 1, block) + frame(0xfe),
            code: .protocolError),
        .init(
            what: "CONTINUATION of another stream",
            bytes: frame(1, stream: 1, block) + frame(9, flags: 4, stream: 3, block), code: .protocolError),
    ]

    @Test(arguments: offences) func aPeersOffenceEndsTheConnectionWithItsCode(_ offence: Offence) {
        for chunk in [offence.bytes.count, 1] {
            let c = Connection()
            c.request(1)
            c.request(2)
            _ = c.output()
            for start in stride(from: 0, to: offence.bytes.count, by: chunk) {
                c.receive(Array(offence.bytes[start..<min(start + chunk, offence.bytes.count)]))
            }
            #expect(c.failure() == offence.code)
            let last = c.frames().last
            #expect(last?.type == FrameType.goAway && last?.code == offence.code)
            #expect(c.state == .closed && c.freeStreams == 0)
            // Later frames change nothing.
            c.receive(headers(1))
            #expect(c.events() == [])
            c.session.connectionLost()
            #expect(c.events().contains(.lost(tag: 1, code: nil)))
        }
    }

    @Test(arguments: [
        Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), frame(6, ping), frame(4, flags: 1), headers(1),
    ]) func aPeerThatDoesNotBeginWithSettingsIsNotHTTP2(_ bytes: [UInt8]) {
        let c = Connection(greeted: false)
        c.request(1)
        c.receive(bytes)
        #expect(c.failure() == .protocolError)
    }

    // MARK: Offences that cost one stream

    static let malformed: [Offence] = [
        .init(what: "no status", bytes: headers(1, status: nil, [("a", "b")]), code: .protocolError),
        .init(what: "status twice", bytes: headers(1, [(":status", "200")]), code: .protocolError),
        .init(
            what: "status after a field", bytes: headers(1, status: nil, [("a", "b"), (":status", "200")]),
            code: .protocolError),
        .init(what: "status of two digits", bytes: headers(1, status: "20"), code: .protocolError),
        .init(what: "status of letters", bytes: headers(1, status: "2x0"), code: .protocolError),
        .init(what: "status 600", bytes: headers(1, status: "600"), code: .protocolError),
        .init(what: "status 099", bytes: headers(1, status: "099"), code: .protocolError),
        .init(what: "status 101", bytes: headers(1, status: "101", end: false), code: .protocolError),
        .init(what: "interim answer that ends", bytes: headers(1, status: "103"), code: .protocolError),
        .init(what: "pseudo field of a request", bytes: headers(1, [(":path", "/")]), code: .protocolError),
        .init(what: "upper case", bytes: headers(1, [("Apns-Id", "x")]), code: .protocolError),
        .init(what: "empty name", bytes: headers(1, [("", "x")]), code: .protocolError),
        .init(what: "space in a name", bytes: headers(1, [("a b", "x")]), code: .protocolError),
        .init(what: "line feed in a value", bytes: headers(1, [("a", "x\ny")]), code: .protocolError),
        .init(what: "field of HTTP/1.1", bytes: headers(1, [("transfer-encoding", "chunked")]), code: .protocolError),
        .init(what: "DATA before HEADERS", bytes: data(1, [1]), code: .protocolError),
        .init(
            what: "trailers that do not end", bytes: headers(1, end: false) + headers(1, status: nil, end: false),
            code: .protocolError),
        .init(
            what: "status in trailers", bytes: headers(1, end: false) + headers(1, status: "200"),
            code: .protocolError),
        .init(what: "body shorter than announced", bytes: headers(1, [("content-length", "1")]), code: .protocolError),
        .init(
            what: "body longer than announced",
            bytes: headers(1, [("content-length", "1")], end: false) + data(1, [1, 2]), code: .protocolError),
        .init(
            what: "two lengths", bytes: headers(1, [("content-length", "0"), ("content-length", "1")]),
            code: .protocolError),
        .init(what: "length of letters", bytes: headers(1, [("content-length", "x")]), code: .protocolError),
        .init(what: "WINDOW_UPDATE of nothing", bytes: windowUpdate(1, 0), code: .protocolError),
        .init(what: "WINDOW_UPDATE that overflows", bytes: windowUpdate(1, 0x7fff_ffff), code: .flowControlError),
    ]

    @Test(arguments: malformed) func aMalformedAnswerCostsOneStream(_ offence: Offence) {
        let c = Connection()
        c.request(1)
        c.request(2)
        _ = c.output()
        c.receive(offence.bytes, headers(3))
        #expect(c.frames().map(\.code) == [offence.code])
        let events = c.events()
        #expect(events.first == .lost(tag: 1, code: offence.code))
        #expect(events.count == 2 && c.state == .open && c.openStreams == 0)
    }

    // MARK: Limits

    @Test func longBodiesAreCut() {
        var configuration = ClientSession.Configuration()
        configuration.bodyMax = 10
        let c = Connection(configuration)
        c.request(1)
        c.request(2)
        _ = c.output()
        c.receive(
            headers(1, status: "400", end: false), data(1, [1, 2, 3, 4, 5, 6], end: false),
            data(1, [7, 8, 9, 10, 11, 12], end: false), headers(3, end: false), data(3, [UInt8](1...10)))
        #expect(c.frames().map(\.code) == [.cancel])
        let responses = c.events().compactMap { event -> Response? in
            guard case .response(let response) = event else { return nil }
            return response
        }
        #expect(responses.map(\.bodyIsCut) == [true, false])
        #expect(responses.map(\.body.count) == [10, 10])
    }

    @Test func aStreamsWindowIsEnforced() {
        var configuration = ClientSession.Configuration()
        configuration.bodyMax = 1 << 20
        let c = Connection(configuration)
        c.request(1)
        _ = c.output()
        c.receive(headers(1, end: false))
        // A peer that ignores the window: our updates are never counted in.
        c.session.streams[1 >> 1].receiveWindow = 100
        c.receive(data(1, [UInt8](repeating: 0, count: 101), end: false))
        #expect(c.frames().map(\.code) == [.flowControlError])
        #expect(c.events() == [.lost(tag: 1, code: .flowControlError)])
    }

    @Test func theConnectionsWindowIsEnforced() {
        let c = Connection()
        c.request(1)
        c.session.own = OwnLimits(window: 100)
        c.receive(headers(1, end: false), data(1, [UInt8](repeating: 0, count: 101), end: false))
        #expect(c.failure() == .flowControlError)
    }

    @Test func longHeaderListsCostOneStream() {
        let c = Connection()
        c.request(1)
        c.request(2)
        _ = c.output()
        let many = [("x", String(repeating: "y", count: 100))]
        c.receive(headers(1, Array(repeating: many[0], count: 130)), headers(3))
        #expect(c.frames().map(\.code) == [.enhanceYourCalm])
        #expect(c.responses().map(\.tag) == [2])
    }

    @Test func continuationFloodsEndTheConnection() {
        for (piece, frames) in [
            ([UInt8](), HeaderBlock.continuationsMax + 1), ([UInt8](repeating: 0x88, count: 16_000), 3),
        ] {
            let c = Connection()
            c.request(1)
            c.receive(frame(FrameType.headers, stream: 1))
            for _ in 1..<frames { c.receive(frame(FrameType.continuation, stream: 1, piece)) }
            #expect(c.state == .open)
            c.receive(frame(FrameType.continuation, stream: 1, piece))
            #expect(c.failure() == .enhanceYourCalm)
        }
    }

    @Test(arguments: [frame(6, ping), settings(), settings([(4, 0), (4, 65_535), (1, 0), (1, 4096)])])
    func repliesThatNobodyReadsAreBounded(_ bytes: [UInt8]) {
        let c = Connection()
        for _ in 0..<FloodGuard.repliesQueuedMax { c.receive(bytes) }
        #expect(c.state == .open)
        _ = c.output()
        for _ in 0..<FloodGuard.repliesQueuedMax { c.receive(bytes) }
        #expect(c.state == .open)
        c.receive(bytes)
        #expect(c.failure() == .enhanceYourCalm)
        #expect(c.output().count < 40_000)
    }

    @Test(arguments: [
        frame(6, ping), frame(6, flags: 1, ping), settings(), frame(0xfe), frame(2, stream: 1, [0, 0, 0, 0, 1]),
        data(1, [], end: false), frame(0, flags: 8, stream: 1, [2, 0, 0]), headers(3), windowUpdate(3, 1),
        frame(3, stream: 3, big(8)), data(3, [1]), frame(7, [0, 0, 0, 9, 0, 0, 0, 0]),
    ]) func framesWithoutPurposeAreBounded(_ bytes: [UInt8]) {
        let c = Connection()
        for tag in 1...3 as ClosedRange<UInt64> { c.request(tag) }
        c.receive(headers(1, end: false), frame(3, stream: 3, big(8)))
        func repeatToTheLimit(counted: Int) {
            for _ in counted..<FloodGuard.idleFramesMax {
                c.receive(bytes)
                _ = c.output()
            }
        }
        // The greeting's SETTINGS count as well.
        repeatToTheLimit(counted: 1)
        #expect(c.state != .closed)
        // An answer shows that there is a purpose.
        c.receive(headers(5))
        _ = c.events()
        repeatToTheLimit(counted: 0)
        #expect(c.state != .closed)
        c.receive(bytes)
        #expect(c.failure() == .enhanceYourCalm)
    }

    @Test func interimAnswersAreBounded() {
        let c = Connection()
        c.request(1)
        for _ in 0...FloodGuard.idleFramesMax { c.receive(headers(1, status: "103", end: false)) }
        #expect(c.failure() == .enhanceYourCalm)
    }

    @Test func goAwaysWordsAreCut() {
        let c = Connection()
        c.receive(frame(FrameType.goAway, big(0) + big(0) + [UInt8](repeating: 0x61, count: 10_000)))
        guard case .goAway(_, _, let debug) = c.events().first else {
            Issue.record("no goAway")
            return
        }
        #expect(debug.count == ClientSession.debugTextMax)
    }
}
