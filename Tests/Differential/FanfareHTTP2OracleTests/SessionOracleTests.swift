import CFanfareNghttp2
import FanfareModel
import HTTP2TestSupport
import Testing

@testable import FanfareHTTP2

/// Whole connections against a server on nghttp2, in memory.
@Suite struct SessionOracleTests {
    static let topic = "com.example.app.push-type.liveactivity"
    static let shapes = ["10", "5"].map { priority in
        RequestShape(
            authority: "api.push.apple.com",
            fields: [
                HeaderField("apns-topic", topic), HeaderField("apns-push-type", "liveactivity"),
                HeaderField("apns-priority", priority),
            ])
    }

    static let bearer = "bearer eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJBIn0.c2ln"
    static let jwt: LiteralFields = {
        var fields = LiteralFields()
        fields.append(HeaderField("authorization", bearer), secret: true)
        return fields
    }()

    /// A client and its server, and the bytes between them.
    final class Link {
        var client: ClientSession
        let server: NGServer
        /// Each tag's end; a second one is recorded as an issue.
        private(set) var ends: [UInt64: Event] = [:]
        private(set) var bodies: [UInt64: [UInt8]] = [:]
        private(set) var apnsIDs: [UInt64: String] = [:]
        private(set) var others: [Event] = []
        private var batch = EventBatch()

        init(_ configuration: ClientSession.Configuration = .init(), server: NGServer) {
            client = ClientSession(configuration: configuration)
            self.server = server
        }

        var openStreams: Int { client.openStreams }
        var freeStreams: Int { client.freeStreams }
        var state: ClientSession.State { client.state }

        @discardableResult
        func request(_ tag: UInt64, token: [UInt8] = [0xab], shape: Int = 0, body: [UInt8] = Array("{}".utf8)) -> Bool {
            var fields = LiteralFields()
            fields.append(HeaderField("apns-expiration", "\(1_790_000_000 + tag)"))
            return client.request(
                shape: SessionOracleTests.shapes[shape], token: token.span, authorization: SessionOracleTests.jwt,
                fields: fields, body: body, tag: tag)
        }

        func toServer(_ limit: Int = .max) {
            let taken = server.receive(client.drain(limit))
            #expect(taken >= 0, "nghttp2 refuses: \(String(cString: nghttp2_strerror(Int32(taken))))")
        }

        func toClient(_ bytes: [UInt8]) {
            client.receive(bytes)
            client.takeEvents(into: &batch)
            for event in batch.events {
                switch event {
                case .response(let response):
                    end(response.tag, event)
                    bodies[response.tag] = Array(batch[response.body])
                    apnsIDs[response.tag] = batch.text(response.apnsID)
                case .notProcessed(let tag), .lost(let tag, _): end(tag, event)
                case .failed(_, let text): Issue.record("failed: \(batch.text(text))")
                default: others.append(event)
                }
            }
        }

        private func end(_ tag: UInt64, _ event: Event) {
            #expect(ends[tag] == nil, "tag \(tag) ended twice")
            ends[tag] = event
        }

        func status(_ tag: UInt64) -> Int? {
            guard case .response(let response) = ends[tag] else { return nil }
            return response.status
        }

        /// Everything there and back until nothing moves.
        func settle() {
            while true {
                let there = client.drain()
                let taken = server.receive(there)
                #expect(taken >= 0)
                let back = server.output()
                toClient(back)
                if there.isEmpty && back.isEmpty { return }
            }
        }
    }

    @Test func aPushIsAnswered() {
        let link = Link(server: NGServer())
        link.server.answer = { _ in .init(fields: [(":status", "200"), ("apns-id", "8A0C")]) }
        link.request(42, token: [0x00, 0x1f, 0xa9, 0xff])
        link.settle()
        let request = link.server.requests.first
        #expect(request?[":method"] == "POST" && request?[":scheme"] == "https")
        #expect(request?[":authority"] == "api.push.apple.com")
        #expect(request?[":path"] == "/3/device/001fa9ff")
        #expect(request?["apns-topic"] == SessionOracleTests.topic)
        #expect(request?["apns-priority"] == "10")
        #expect(request?["apns-expiration"] == "1790000042")
        #expect(request?["authorization"] == SessionOracleTests.bearer)
        #expect(request?.body == Array("{}".utf8))
        #expect(link.status(42) == 200 && link.apnsIDs[42] == "8A0C")
        #expect(link.others == [.settingsChanged])
    }

    /// Thousands of requests through cut bytes, small and changing windows, changing tables and stream limits: each one
    /// arrives as it was sent and gets its own answer.
    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64]) func everyRequestGetsItsAnswer(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var configuration = ClientSession.Configuration()
        configuration.streamsMax = Int.random(in: 1...50, using: &random)
        // Large enough for answers that need CONTINUATION.
        configuration.headerListMax = 1 << 17
        configuration.decoderTableSize = [0, 200, 4096, 16_384][Int(random.next() % 4)]
        configuration.encoderTableSize = [0, 100, 4096, 16_384][Int(random.next() % 4)]
        let server = NGServer(settings: [
            (Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), UInt32(random.next() % 2000)),
            (Int32(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE.rawValue), UInt32(random.next() % 9000)),
        ])
        let link = Link(configuration, server: server)
        var held: [Int32] = []
        var sent: [UInt64: (path: String, priority: String, body: [UInt8])] = [:]
        func answer(to body: [UInt8], hold: Bool) -> NGServer.Answer {
            var answer = NGServer.Answer()
            answer.hold = hold
            // The first byte of the body says what the server makes of it.
            switch (body.first ?? 0) % 8 {
            case 0:
                answer.fields = [(":status", "410"), ("apns-id", "id-\(body.count)")]
                answer.body = Array("{\"reason\":\"Unregistered\",\"n\":\(body.count)}".utf8)
            case 1: answer.fields = [(":status", "200"), ("x-large", String(repeating: "\(body.count) ", count: 9000))]
            case 2: answer.trailers = [("x-trailer", "1")]
            case 3: answer.body = body
            case 4: answer.reset = NGHTTP2_REFUSED_STREAM.rawValue
            case 5: answer.reset = NGHTTP2_INTERNAL_ERROR.rawValue
            default: answer.fields += [("apns-id", "id-\(body.count)")]
            }
            return answer
        }
        var answerRandom = SplitMix64(seed: seed &+ 1000)
        server.answer = { request in
            let hold = answerRandom.next() % 4 == 0
            if hold { held.append(request.stream) }
            return answer(to: request.body, hold: hold)
        }

        var wire: [UInt8] = []
        let total: UInt64 = 800
        var next: UInt64 = 0
        var turns = 0
        while link.ends.count < Int(total), turns < 200_000 {
            turns += 1
            if next < total, random.next() % 2 == 0 {
                let token = (0..<Int.random(in: 1...100, using: &random)).map { _ in UInt8(random.next() % 256) }
                let body = (0..<Int.random(in: 1...3000, using: &random)).map { _ in UInt8(random.next() % 256) }
                let shape = Int(random.next() % 2)
                let hasRoom = link.freeStreams > 0
                let accepted = link.request(next, token: token, shape: shape, body: body)
                #expect(accepted == hasRoom)
                if accepted {
                    let hex = token.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                    sent[next] = ("/3/device/" + hex, shape == 0 ? "10" : "5", body)
                    next += 1
                }
            }
            link.toServer(Int.random(in: 1...4000, using: &random))
            switch random.next() % 60 {
            case 0:
                server.change([
                    (Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), UInt32(random.next() % 3000)),
                    (Int32(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE.rawValue), UInt32(random.next() % 9000)),
                ])
            case 1:
                let limits: [UInt32] = [0, 1, 5, 1000]
                server.change([
                    (Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), limits[Int(random.next() % 4)])
                ])
            case 2: server.ping()
            case 3: link.client.ping()
            case 4 where !held.isEmpty: server.interim(held[0], status: "103")
            default: break
            }
            if !held.isEmpty, random.next() % 3 == 0 {
                let stream = held.remove(at: Int.random(in: 0..<held.count, using: &random))
                if let request = server.requests.last(where: { $0.stream == stream }) {
                    server.respond(stream, answer(to: request.body, hold: false))
                }
            }
            wire += server.output()
            let count = min(Int.random(in: 0...3000, using: &random), wire.count)
            link.toClient(Array(wire[..<count]))
            wire.removeFirst(count)
        }

        #expect(
            link.ends.count == Int(total), "seed \(seed): stuck at \(link.ends.count) with \(link.openStreams) open")
        #expect(server.complaints == [] && link.state == .open)
        let arrived = Dictionary(grouping: server.requests) { $0["apns-expiration"] ?? "" }
        for (tag, request) in sent {
            let copies = arrived["\(1_790_000_000 + tag)"] ?? []
            // nghttp2 itself refuses what was under way when it lowered its limit; the rest must arrive, once.
            guard copies.count == 1, let copy = copies.first else {
                #expect(copies.isEmpty && link.ends[tag] == .notProcessed(tag: tag), "seed \(seed), tag \(tag)")
                continue
            }
            #expect(copy[":path"] == request.path && copy["apns-priority"] == request.priority)
            #expect(copy.body == request.body)
            let expected = answer(to: request.body, hold: false)
            switch expected.reset {
            case NGHTTP2_REFUSED_STREAM.rawValue: #expect(link.ends[tag] == .notProcessed(tag: tag))
            case .some: #expect(link.ends[tag] == .lost(tag: tag, code: .internalError))
            case nil:
                #expect(link.status(tag) == Int(expected.fields[0].1), "seed \(seed), tag \(tag)")
                #expect(link.bodies[tag] == expected.body)
                #expect(link.apnsIDs[tag] == expected.fields.first { $0.0 == "apns-id" }?.1 ?? "")
            }
        }
    }

    /// The peer's windows stay shut until it has consumed what it got.
    @Test func aSlowReaderIsNotOverrun() {
        let server = NGServer(
            settings: [(Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), 1000)], manualWindows: true)
        let link = Link(server: server)
        link.settle()
        let body = [UInt8](repeating: 7, count: 5000)
        for tag in 0..<20 as Range<UInt64> { link.request(tag, body: body) }
        for _ in 0..<20 {
            link.settle()
            // Streams 1, 3, 5, …: a thousand bytes have come on each that is not complete.
            for stream in stride(from: Int32(1), to: 40, by: 2) { server.consume(stream, 1000) }
        }
        #expect(link.ends.count == 20)
        #expect(server.requests.allSatisfy { $0.body == body })
    }

    @Test func goAwayLeavesWhatIsBelowAndFreesWhatIsAbove() {
        let link = Link(server: NGServer())
        link.server.answer = { _ in .init(hold: true) }
        link.settle()
        for tag in 1...5 as ClosedRange<UInt64> { link.request(tag) }
        link.settle()
        link.server.goAway(lastStream: 5, code: 0, debug: "{\"reason\":\"Shutdown\"}")
        link.settle()
        #expect(link.ends == [4: .notProcessed(tag: 4), 5: .notProcessed(tag: 5)])
        #expect(link.state == .draining && link.freeStreams == 0 && link.openStreams == 3)
        for stream in [1, 3, 5] as [Int32] { link.server.respond(stream, .init()) }
        link.settle()
        #expect(link.openStreams == 0 && (1...3).allSatisfy { link.status($0) == 200 })
    }

    @Test func streamsShrinkToOneAndGrowAgain() {
        let streams = Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue)
        let link = Link(server: NGServer(settings: [(streams, 1000)]))
        link.server.answer = { _ in .init(hold: true) }
        link.settle()
        for tag in 0..<100 as Range<UInt64> { link.request(tag) }
        link.settle()
        link.server.change([(streams, 1)])
        link.settle()
        #expect(link.freeStreams == 0 && link.openStreams == 100)
        for stream in link.server.requests.map(\.stream) { link.server.respond(stream, .init()) }
        link.settle()
        #expect(link.freeStreams == 1)
        link.request(100)
        #expect(link.freeStreams == 0)
        link.server.change([(streams, 1000)])
        link.settle()
        #expect(link.freeStreams == 999)
        #expect(link.server.complaints == [])
    }

    @Test func cancelledRequestsAreResetAtTheServer() {
        let link = Link(server: NGServer())
        link.server.answer = { _ in .init(hold: true) }
        link.request(1)
        link.settle()
        let cancelled = link.client.cancel(tag: 1)
        let again = link.client.cancel(tag: 1)
        #expect(cancelled && !again)
        link.settle()
        #expect(link.ends == [1: .lost(tag: 1, code: .cancel)])
        #expect(link.server.resets.map(\.code) == [NGHTTP2_CANCEL.rawValue])
    }

    @Test func aPingIsAnswered() {
        let link = Link(server: NGServer())
        link.client.ping()
        link.settle()
        #expect(link.others.contains(.pong) && link.server.pings == 1)
    }
}
