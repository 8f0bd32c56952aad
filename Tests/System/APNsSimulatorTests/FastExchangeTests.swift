import FanfareHTTP2
import Testing

@testable import APNsSimulator

/// Our client against the fast mode, without a network and with injected time.
@Suite struct FastExchangeTests {
    /// Our client's session and the fast mode's, connected by hand; the bytes are cut at random places.
    private final class Exchange {
        let service: FastService
        let session: FastSession
        var client = ClientSession(configuration: .init())
        var random: UInt64
        var now: UInt32 = 0
        private(set) var statuses: [UInt64: Int] = [:]
        private(set) var reasons: [UInt64: String] = [:]
        private(set) var failures: [String] = []

        init(seed: UInt64 = 1, deadShare: Double = 0, settings: FastSettings = .init()) {
            random = seed
            service = FastService(seed: seed, deadShare: deadShare)
            session = FastSession(settings: settings, service: service)
        }

        func draw(_ bound: Int) -> Int {
            random = mixed(random)
            return Int(random % UInt64(bound))
        }

        /// Passes bytes on until neither side has any to send.
        func talk() {
            var batch = EventBatch()
            while true {
                let sent = client.withOutput { Array($0) }
                client.take(sent.count)
                deliver(sent) { piece in session.receive(piece, at: now).map { failures.append($0) } }
                service.countAccepted()
                var answered: [UInt8] = []
                session.takeOutput { answered += Array($0) }
                deliver(answered) { client.receive($0) }
                client.takeEvents(into: &batch)
                for event in batch.events {
                    switch event {
                    case .response(let response):
                        statuses[response.tag] = response.status
                        reasons[response.tag] = batch.text(response.body)
                    case .failed(_, let text): failures.append(batch.text(text))
                    case .notProcessed(let tag), .lost(let tag, _): statuses[tag] = 0
                    default: break
                    }
                }
                if sent.isEmpty && answered.isEmpty { return }
            }
        }

        private func deliver(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) -> Void) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(1 + draw(draw(4) == 0 ? 20 : 60_000))
                rest = rest.dropFirst(piece.count)
                piece.withUnsafeBytes { body($0) }
            }
        }
    }

    private static func shape(_ priority: String) -> RequestShape {
        RequestShape(authority: "localhost", fields: [HeaderField("apns-priority", priority)])
    }

    private static func id(_ token: [UInt8]) -> UInt64 { token.withUnsafeBytes { Fingerprint($0).low } }

    /// A last byte of 1 once compensated for the ninth byte: 9 ^ 1 is 8.
    @Test func aTokenAndItsBeginningHaveDifferentIDs() {
        let token: [UInt8] = [2, 2, 1, 0, 0, 0, 0, 2]
        for last in 0...255 as ClosedRange<UInt8> {
            #expect(FastExchangeTests.id(token) != FastExchangeTests.id(token + [last]))
        }
    }

    @Test func everyPushIsAcceptedAndCountedForItsToken() {
        let seed = UInt64.random(in: 0...UInt64.max)
        let exchange = Exchange(seed: seed)
        let shapes = ["5", "10", "7"].map { FastExchangeTests.shape($0) }
        var expected: [[UInt8]: Int] = [:]
        exchange.talk()
        for tag in 0..<3000 {
            // Few different tokens, so that some repeat; a new shape changes the dynamic table halfway.
            let token = (0..<1 + exchange.draw(90)).map { _ in UInt8(exchange.draw(3)) }
            expected[token, default: 0] += 1
            let shape = shapes[min(exchange.draw(2) + tag / 1500, 2)]
            let isSent = exchange.client.request(
                shape: shape, token: token.span, body: Array(repeating: 1, count: 1 + exchange.draw(4096)),
                tag: UInt64(tag))
            #expect(isSent)
            if exchange.client.freeStreams == 0 || exchange.draw(50) == 0 { exchange.talk() }
        }
        exchange.talk()
        #expect(exchange.failures.isEmpty, "seed \(seed): \(exchange.failures)")
        #expect(exchange.statuses.count == 3000 && exchange.statuses.values.allSatisfy { $0 == 200 }, "seed \(seed)")
        #expect(exchange.service.tokens.tokens == expected.count, "seed \(seed)")
        for (token, count) in expected {
            #expect(exchange.service.tokens[FastExchangeTests.id(token)] == count, "seed \(seed)")
        }
        #expect(exchange.service.tokens.range == (expected.values.min() ?? 0)...(expected.values.max() ?? 0))
    }

    @Test func aShareOfTheTokensIsDeadAndStaysSo() {
        let exchange = Exchange(seed: 3, deadShare: 0.3)
        exchange.talk()
        let shape = FastExchangeTests.shape("10")
        for round in 0..<2 {
            for tag in 0..<UInt64(900) {
                let token = [UInt8(tag >> 8), UInt8(tag & 255)]
                exchange.client.request(shape: shape, token: token.span, body: [1], tag: tag + UInt64(round) * 1000)
            }
            exchange.talk()
        }
        let dead = exchange.statuses.filter { $0.value == 410 }
        #expect(abs(dead.count - 540) < 100)
        for tag in 0..<UInt64(900) { #expect(exchange.statuses[tag] == exchange.statuses[tag + 1000]) }
        #expect(dead.keys.allSatisfy { exchange.reasons[$0]?.contains("\"timestamp\":") == true })
        #expect(exchange.service.statistics[.accepted] == 1800 - dead.count)
    }

    @Test func anAnswerTakesItsTimeAndNotLonger() {
        let exchange = Exchange(settings: .init(latencyMilliseconds: 50))
        exchange.talk()
        let shape = FastExchangeTests.shape("10")
        func push(_ tag: UInt64) {
            exchange.client.request(shape: shape, token: [1, 2].span, body: [1], tag: tag)
            exchange.talk()
        }
        exchange.now = 100
        push(1)
        push(2)
        exchange.now = 120
        push(3)
        exchange.session.answerWaiting(at: 149)
        exchange.talk()
        #expect(exchange.statuses.isEmpty && exchange.session.answersToCome == 3)
        exchange.session.answerWaiting(at: 150)
        exchange.talk()
        #expect(exchange.statuses == [1: 200, 2: 200] && exchange.session.isWaiting)
        // A request that its client cancelled gets no answer.
        exchange.client.cancel(tag: 3)
        exchange.talk()
        exchange.session.answerWaiting(at: 1000)
        exchange.talk()
        #expect(exchange.statuses == [1: 200, 2: 200, 3: 0] && exchange.failures.isEmpty)
        #expect(exchange.service.statistics.unanswered == 1 && !exchange.session.isWaiting)
    }
}
