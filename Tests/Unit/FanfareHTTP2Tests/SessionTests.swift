import FanfareModel
import HTTP2TestSupport
import Testing

@testable import FanfareHTTP2

@Suite struct SessionTests {
    @Test func greetsWithPrefaceSettingsAndWindow() {
        var session = ClientSession(configuration: .init())
        let bytes = session.withOutput { Array($0) }
        #expect(bytes.starts(with: Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)))
        let frames = session.drainFrames()
        #expect(frames.map(\.type) == [FrameType.settings, FrameType.windowUpdate])
        #expect(frames[0].payload.starts(with: [0, 1, 0, 0, 0x10, 0, 0, 2, 0, 0, 0, 0]))
    }

    @Test func aSessionAcknowledgesSettingsAndTellsOfThem() {
        let c = Connection(greeted: false)
        _ = c.output()
        #expect(c.settingsReceived == false)
        c.receive(settings([(3, 17)]))
        #expect(c.settingsReceived == true)
        #expect(c.freeStreams == 17)
        #expect(c.events() == [.settingsChanged])
        #expect(c.frames() == [Sent(type: FrameType.settings, flags: 1, stream: 0, payload: [])])
    }

    // MARK: Requests

    @Test func aSessionWritesARequestAndLaterOnesShorter() {
        let c = Connection()
        c.request(1, body: [1, 2, 3])
        c.request(2, body: [4])
        let frames = c.frames()
        #expect(frames.map(\.stream) == [1, 1, 3, 3])
        #expect(frames.map(\.type) == [FrameType.headers, FrameType.data, FrameType.headers, FrameType.data])
        #expect(frames[1].payload == [1, 2, 3] && frames[1].flags == FrameFlag.endStream)
        // The second request: three indexed pseudo fields, the path in full, one indexed field.
        let path = Array("/3/device/ab".utf8)
        #expect(frames[2].payload == [0x83, 0x87, 0xbf, 0x14, UInt8(path.count)] + path + [0xbe])
    }

    /// Requests decode to their fields on a server, whatever has happened to the table in between.
    @Test func everyRequestOfEveryShapeDecodesToItsFields() throws {
        let c = Connection()
        var server = HeaderDecoder(tableCapacity: 4096, listLimit: 100_000)
        let shapes = (0..<20).map { index in
            RequestShape(
                authority: "host-\(index)",
                fields: [HeaderField("x-long", String(repeating: "\(index % 10)", count: index * 9))])
        }
        var random = SplitMix64(seed: 5)
        for step in 0..<600 {
            if step % 50 == 49 {
                let size = UInt32.random(in: 0...5000, using: &random)
                c.receive(settings([(1, 0), (1, size)]))
                server.setTableLimit(min(Int(size), 4096))
            }
            let index = Int.random(in: 0..<shapes.count, using: &random)
            let token = random.bytes(Int.random(in: 0...200, using: &random))
            var fields = LiteralFields()
            fields.append(HeaderField("apns-expiration", "\(step)"))
            let accepted = c.session.request(
                shape: shapes[index], token: token.span, fields: fields, body: [], tag: UInt64(step))
            #expect(accepted)
            for sent in c.frames() where sent.type == FrameType.headers {
                try server.decode(sent.payload.span)
                let hex = token.map { byte in
                    [byte >> 4, byte & 15].map { String($0, radix: 16) }.joined()
                }.joined()
                #expect(
                    server.list.all == [
                        HeaderField(":method", "POST"), HeaderField(":scheme", "https"),
                        HeaderField(":authority", "host-\(index)"), HeaderField(":path", "/3/device/" + hex),
                        shapes[index].fields[0], HeaderField("apns-expiration", "\(step)"),
                    ])
                c.receive(headers(sent.stream))
            }
            _ = c.events()
        }
    }

    @Test func aBlockLongerThanAFrameGoesOnInContinuation() throws {
        let c = Connection()
        var fields = LiteralFields()
        fields.append(HeaderField(name: Array("x".utf8), value: [UInt8](repeating: 0x7e, count: 40_000)))
        let path = Array("/p".utf8)
        c.session.request(shape: Connection.shape, path: path.span, fields: fields, body: [9], tag: 1)
        c.session.request(shape: Connection.shape, path: path.span, fields: fields, body: [], tag: 2)
        let frames = c.frames()
        #expect(frames.map(\.type) == [1, 9, 9, 0, 1, 9, 9])
        #expect(frames.map(\.flags) == [0, 0, FrameFlag.endHeaders, 1, 1, 0, FrameFlag.endHeaders])
        #expect(frames.allSatisfy { $0.payload.count <= 16_384 })
        var server = HeaderDecoder(tableCapacity: 4096, listLimit: 100_000)
        let block = frames[0...2].flatMap(\.payload)
        try server.decode(block.span)
        #expect(server.list.all.last?.value.count == 40_000)
    }

    @Test func limitsOfPeerAndCallerAndOurOwnAreKept() {
        var configuration = ClientSession.Configuration()
        configuration.streamsMax = 4
        let c = Connection(configuration, settings: [(3, 3)])
        c.session.streamLimit = 1
        #expect(c.freeStreams == 1)
        let first = c.request(1)
        let refused = c.request(2)
        #expect(first && !refused && c.freeStreams == 0)
        c.session.streamLimit = 100
        #expect(c.freeStreams == 2)
        c.receive(settings([(3, 1000)]))
        #expect(c.freeStreams == 3)
        for tag in 2...4 { c.request(UInt64(tag)) }
        // Shrunk below what is in flight, to one, to none, and grown again.
        c.receive(settings([(3, 1)]))
        #expect(c.freeStreams == 0 && c.openStreams == 4)
        c.receive(headers(1), headers(3), headers(5), headers(7))
        #expect(c.freeStreams == 1)
        c.receive(settings([(3, 0)]))
        #expect(c.freeStreams == 0)
        c.receive(settings([(3, 2)]))
        #expect(c.freeStreams == 2)
    }

    /// A slow stream keeps its slot while thousands pass by: IDs are skipped, nothing is mixed up.
    @Test func slowStreamsDoNotStandInTheWay() {
        var configuration = ClientSession.Configuration()
        configuration.streamsMax = 4
        let c = Connection(configuration)
        c.request(1)
        c.request(2)
        var last: UInt32 = 3
        for tag in 3...1000 as ClosedRange<UInt64> {
            _ = c.output()
            c.request(tag)
            let stream = c.frames()[0].stream
            #expect(stream > last && stream % 2 == 1)
            last = stream
            c.receive(headers(stream))
            #expect(c.responses().map(\.tag) == [tag])
        }
        // 998 requests and a skip of two places in each round of eight.
        #expect(last > 2 * 1000)
        c.receive(headers(1), headers(3))
        #expect(c.responses().map(\.tag) == [1, 2])
    }

    @Test func streamIDsRunOut() {
        var configuration = ClientSession.Configuration()
        configuration.firstStream = StreamID.max - 2
        let c = Connection(configuration)
        let first = c.request(1)
        #expect(first && c.state == .open)
        let second = c.request(2)
        #expect(second && c.state == .draining && c.freeStreams == 0)
        let third = c.request(3)
        #expect(!third)
        #expect(c.events() == [.exhausted])
        c.receive(headers(StreamID.max))
        #expect(c.responses().map(\.tag) == [2])
    }

    // MARK: Flow control, outwards

    @Test func bodiesWaitForWindowsAndGoOn() {
        let c = Connection(settings: [(4, 10)])
        let body = (0..<25).map { UInt8($0) }
        c.request(1, body: body)
        var frames = c.frames()
        #expect(frames.map(\.payload.count).dropFirst() == [10] && frames[1].flags == 0)
        c.receive(windowUpdate(1, 4))
        // Up by 5 for every open stream, then far down: the window is negative until it is paid back.
        c.receive(settings([(4, 15)]), settings([(4, 0)]))
        c.receive(windowUpdate(1, 15))
        frames = c.frames().filter { $0.type == FrameType.data }
        #expect(frames.map(\.payload.count) == [4, 5])
        c.receive(windowUpdate(1, 6))
        frames = c.frames()
        #expect(frames.map(\.payload.count) == [6] && frames[0].flags == FrameFlag.endStream)
        #expect(c.stalled == [])
        c.receive(headers(1))
        #expect(c.responses().map(\.tag) == [1])
    }

    @Test func theConnectionsWindowIsSharedInOrder() {
        let c = Connection(settings: [(4, 1 << 20)])
        c.request(1, body: [UInt8](repeating: 1, count: 65_000))
        #expect(c.freeWindow == 535)
        c.request(2, body: [UInt8](repeating: 2, count: 1000))
        c.request(3, body: [UInt8](repeating: 3, count: 1000))
        #expect(c.freeWindow == 0)
        var frames = c.frames().filter { $0.type == FrameType.data }
        #expect(frames.map(\.payload.count) == [16_384, 16_384, 16_384, 15_848, 535])
        c.receive(windowUpdate(0, 1000))
        frames = c.frames()
        #expect(frames.map(\.stream) == [3, 5])
        #expect(frames.map(\.payload.count) == [465, 535])
        c.receive(windowUpdate(0, 1000))
        frames = c.frames()
        #expect(frames.map(\.payload.count) == [465] && frames[0].flags == FrameFlag.endStream)
        #expect(c.freeWindow == 535)
    }

    @Test func stalledRequestsThatArePeerResetLeaveNothingBehind() {
        var configuration = ClientSession.Configuration()
        configuration.streamsMax = 4
        let c = Connection(configuration, settings: [(4, 0)])
        for tag in 0..<1000 as Range<UInt64> {
            c.request(tag, body: [1])
            let stream = c.frames()[0].stream
            c.receive(frame(FrameType.resetStream, stream: stream, big(8)))
        }
        #expect(c.stalled.count <= 10)
        #expect(c.openStreams == 0)
    }

    // MARK: Answers

    @Test func bodyApnsIDAndTrailersArrive() {
        let c = Connection()
        c.request(1)
        c.request(2)
        c.receive(
            headers(1, status: "103", end: false), headers(1, status: "410", [("apns-id", "ID-1")], end: false),
            headers(3, status: "200", [("apns-id", "ID-2")]), data(1, Array("{\"rea".utf8), end: false),
            data(1, Array("son\"}".utf8), end: false), headers(1, status: nil, [("x", "y")]))
        let responses = c.responses()
        #expect(responses.map(\.tag) == [2, 1])
        #expect(responses.map(\.status) == [200, 410])
        #expect(responses.map { String(decoding: $0.body, as: UTF8.self) } == ["", "{\"reason\"}"])
        #expect(responses.map { String(decoding: $0.apnsID, as: UTF8.self) } == ["ID-2", "ID-1"])
        #expect(c.openStreams == 0)
    }

    @Test func paddingAndPriorityAndContinuationAreReadAnyhow() {
        let c = Connection()
        c.request(1)
        let block = Array(headers(1).dropFirst(9))
        let flags = FrameFlag.padded | FrameFlag.priority
        c.receive(
            frame(FrameType.headers, flags: flags, stream: 1, [2] + big(0) + [9] + block.prefix(3) + [0, 0]),
            frame(FrameType.continuation, stream: 1),
            frame(FrameType.continuation, flags: FrameFlag.endHeaders, stream: 1, Array(block.dropFirst(3))),
            frame(0xfe, stream: 1, [1, 2, 3]), frame(FrameType.priority, stream: 9, [0, 0, 0, 0, 1]),
            frame(
                FrameType.data, flags: FrameFlag.padded | FrameFlag.endStream, stream: 1, [3, 7, 7, 0, 0, 0]))
        #expect(c.responses().map(\.body) == [[7, 7]])
    }

    @Test func anEarlyAnswerEndsTheRequest() {
        let c = Connection(settings: [(4, 1)])
        c.request(1, body: [1, 2, 3])
        _ = c.output()
        c.receive(headers(1, status: "413"))
        #expect(c.responses().map(\.status) == [413])
        let frames = c.frames()
        #expect(frames.map(\.code) == [.cancel])
        c.receive(windowUpdate(1, 100), windowUpdate(0, 100), frame(FrameType.resetStream, stream: 1, big(0)))
        #expect(c.output() == [])
        #expect(c.state == .open)
    }

    @Test func framesOnClosedStreamsAreIgnoredButCounted() throws {
        let c = Connection()
        c.request(1)
        c.request(2)
        c.session.cancel(tag: 1)
        #expect(c.events() == [.lost(tag: 1, code: .cancel)])
        // The late answer still fills the table that the next one uses.
        let added: [UInt8] = [0x88, 0x40, 1, 0x61, 1, 0x62]
        c.receive(frame(FrameType.headers, flags: 4, stream: 1, added))
        c.receive(data(1, [1, 2, 3], end: false))
        #expect(c.receiveWindow == ClientSession.Configuration().receiveWindow - 3)
        c.receive(frame(FrameType.headers, flags: 5, stream: 3, [0x88, 0xbe]))
        #expect(c.responses().map(\.tag) == [2])
    }

    @Test func windowsOfAnswersAreGivenBack() {
        var configuration = ClientSession.Configuration()
        configuration.receiveWindow = FlowControl.defaultWindow
        configuration.bodyMax = 1 << 20
        let c = Connection(configuration)
        c.request(1)
        _ = c.output()
        c.receive(headers(1, end: false))
        for _ in 0..<20 { c.receive(data(1, [UInt8](repeating: 1, count: 16_000), end: false)) }
        let frames = c.frames()
        for stream in [0, 1] as [UInt32] {
            let given = frames.filter { $0.stream == stream }.map { $0.increment }
            let left = FlowControl.defaultWindow - 20 * 16_000 + given.reduce(0, +)
            #expect(left > FlowControl.defaultWindow / 2 && left <= FlowControl.defaultWindow)
        }
        c.receive(data(1, []))
        #expect(c.responses().map(\.body.count) == [320_000])
    }

    // MARK: Ends

    @Test func resetsSayWhetherTheRequestWasProcessed() {
        let c = Connection()
        for tag in 1...3 as ClosedRange<UInt64> { c.request(tag) }
        c.receive(
            frame(FrameType.resetStream, stream: 1, big(7)), frame(FrameType.resetStream, stream: 3, big(8)),
            frame(FrameType.resetStream, stream: 5, big(0x1234)))
        #expect(
            c.events() == [
                .notProcessed(tag: 1), .lost(tag: 2, code: .cancel),
                .lost(tag: 3, code: ErrorCode(rawValue: 0x1234)),
            ])
        #expect(c.state == .open && c.openStreams == 0)
    }

    @Test func goAwayDrains() {
        let c = Connection()
        for tag in 1...4 as ClosedRange<UInt64> { c.request(tag) }
        let reason = Array("{\"reason\":\"Shutdown\"}".utf8)
        c.receive(frame(FrameType.goAway, big(3) + big(0) + reason))
        var batch = EventBatch()
        c.session.takeEvents(into: &batch)
        guard case .goAway(let lastStream, let code, let debug) = batch.events[0] else {
            Issue.record("no goAway: \(batch.events)")
            return
        }
        #expect(lastStream == 3 && code == .noError && batch.text(debug) == "{\"reason\":\"Shutdown\"}")
        #expect(Array(batch.events.dropFirst()) == [.notProcessed(tag: 3), .notProcessed(tag: 4)])
        let more = c.request(5)
        #expect(!more && c.state == .draining && c.openStreams == 2)
        // A second, final one.
        c.receive(headers(1), frame(FrameType.goAway, big(1) + big(2)), headers(7))
        #expect(c.openStreams == 0)
    }

    @Test func aSessionSendsItsGoAwayOnce() {
        let c = Connection()
        c.request(1)
        _ = c.output()
        c.session.goAway()
        c.session.goAway()
        #expect(c.frames().map(\.code) == [.noError])
        c.receive(headers(1))
        #expect(c.responses().map(\.tag) == [1])
    }

    @Test func pingsAreAnsweredBothWays() {
        let c = Connection()
        c.receive(frame(FrameType.ping, [1, 2, 3, 4, 5, 6, 7, 8]))
        #expect(c.frames() == [Sent(type: 6, flags: 1, stream: 0, payload: [1, 2, 3, 4, 5, 6, 7, 8])])
        let first = c.session.ping()
        let second = c.session.ping()
        #expect(first && !second)
        let opaque = c.frames()[0].payload
        c.receive(frame(FrameType.ping, flags: 1, [9, 9, 9, 9, 9, 9, 9, 9]))
        #expect(c.events() == [])
        c.receive(frame(FrameType.ping, flags: 1, opaque))
        #expect(c.events() == [.pong])
        let third = c.session.ping()
        #expect(third)
    }

    @Test func aLostConnectionTellsSentFromUnsent() {
        let c = Connection()
        c.request(1)
        let first = c.session.outputCount
        c.request(2)
        c.request(3)
        // The second request has begun to leave, the third has not.
        c.session.take(first + 1)
        c.session.connectionLost()
        #expect(
            c.events() == [.lost(tag: 1, code: nil), .notProcessed(tag: 2), .notProcessed(tag: 3)])
        #expect(c.state == .closed && c.openStreams == 0)
        let more = c.request(4)
        #expect(!more)
    }

    /// Taken bytes lay in a queue, and their end never left.
    @Test(arguments: 0...300) func aRequestThatDidNotWhollyLeaveWasNotProcessed(unsent: Int) {
        let c = Connection()
        var ends: [Int] = []
        for tag in 1...3 as ClosedRange<UInt64> {
            c.request(tag, body: [UInt8](repeating: 7, count: 50))
            ends.append(c.session.outputCount)
        }
        let written = c.session.outputCount
        c.session.take(written)
        c.session.connectionLost(unsent: unsent)
        let expected: [Event] = ends.enumerated().map { index, end in
            let tag = UInt64(index + 1)
            return end <= written - unsent ? .lost(tag: tag, code: nil) : .notProcessed(tag: tag)
        }
        #expect(c.events() == expected)
    }

    /// A body that waits for the peer's window: nothing can be done with its beginning.
    @Test func aBodyThatWaitsForAWindowWasNotProcessed() {
        for isOpened in [false, true] {
            let c = Connection(greeted: false)
            c.receive(settings([(4, 10)]))
            c.request(1, body: [UInt8](repeating: 7, count: 50))
            c.session.take(c.session.outputCount)
            if isOpened { c.receive(frame(FrameType.windowUpdate, stream: 1, [0, 0, 0, 40])) }
            c.session.take(c.session.outputCount)
            _ = c.events()
            c.session.connectionLost()
            #expect(c.events() == [isOpened ? .lost(tag: 1, code: nil) : .notProcessed(tag: 1)])
        }
    }

    /// A stream whose end was never written cannot have been processed, whichever side resets it.
    @Test func aResetOfABodyThatWaitsForAWindowSaysThatItWasNotProcessed() {
        for isWhole in [false, true] {
            let c = Connection(settings: [(4, isWhole ? 50 : 10)])
            for tag in 1...2 as ClosedRange<UInt64> { c.request(tag, body: [UInt8](repeating: 7, count: 50)) }
            c.session.take(c.session.outputCount)
            c.receive(frame(FrameType.resetStream, stream: 1, big(8)))
            c.session.cancel(tag: 2)
            #expect(
                c.events()
                    == (isWhole
                        ? [.lost(tag: 1, code: .cancel), .lost(tag: 2, code: .cancel)]
                        : [.notProcessed(tag: 1), .notProcessed(tag: 2)]))
            #expect(c.openStreams == 0)
        }
    }

    @Test func bytesMayBeCutAnywhere() {
        let whole =
            settings([(3, 100)]) + headers(1, status: "400", end: false)
            + data(1, Array("0123456789".utf8)) + frame(FrameType.ping, [0, 0, 0, 0, 0, 0, 0, 0]) + headers(3)
        for size in 1...40 {
            let c = Connection(greeted: false)
            c.request(1)
            c.request(2)
            for start in stride(from: 0, to: whole.count, by: size) {
                c.receive(Array(whole[start..<min(start + size, whole.count)]))
            }
            let responses = c.responses()
            #expect(responses.map(\.tag) == [1, 2])
            #expect(responses.map(\.body) == [Array("0123456789".utf8), []])
        }
    }
}
