import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import FanfareModel
import Testing

/// The number of deliveries that a pool pulls at a time.
@Suite struct PullTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.makeCertificates()
    }

    /// Over a distance a few answers come at a time, on many connections: pushes pulled one by one would each cost a record, a write
    /// and a read.
    @Test func aFullConnectionTakesASixteenthAtATime() throws {
        let streams = 160
        var open: [AnsweringServer.Request] = []
        func answer(_ request: AnsweringServer.Request) -> [UInt8] {
            guard request.number >= 500 else { return AnsweringServer.accepted(request) }
            open.append(request)
            return []
        }
        let (server, harness) = try scratch.world(
            activities: 2000, connections: 1, settings: [0, 3, 0, 0, 0, UInt8(streams)], { $0.waitForEver() },
            answer: answer)
        harness.run("a full connection") { open.count == streams }
        let handedOut = harness.source.handedOut
        for answered in 1...streams / 16 {
            let request = open.removeFirst()
            server.write(AnsweringServer.accepted(request), on: request.connection)
            let completed = harness.source.completed
            harness.run("answer \(answered)") { harness.source.completed > completed }
            #expect(harness.source.handedOut == handedOut + (answered < streams / 16 ? 0 : streams / 16))
        }
        harness.run("all") {
            while !open.isEmpty {
                let request = open.removeFirst()
                server.write(AnsweringServer.accepted(request), on: request.connection)
            }
            return harness.source.settled == 2000
        }
        harness.close()
    }

    /// A peer that returns its window on reading, and answers much later, gets as many requests as it allows, however large bodies are.
    @Test func aWindowThatComesBackBeforeAnswersHoldsNobodyUp() throws {
        let streams = 500
        let payload = Payload(
            event: .update, logLabel: "match/1",
            state: Array(#"{"text":"\#(String(repeating: "x", count: 3800))"}"#.utf8),
            stamp: Clock.wallMilliseconds() / 1000, staleDate: nil, dismissalDate: nil, alert: nil, priority: .immediate
        )
        let loop = try Loop()
        var open = 0
        var bodyBytes: UInt32 = 1
        let server = try AnsweringServer(
            loop: loop, scratch: scratch, settings: [0, 3, 0, 0, UInt8(streams >> 8), UInt8(streams & 255)],
            windowUpdate: 0
        ) { request in
            let window = frame(8, big(bodyBytes))
            guard request.number >= 1000 else { return window + AnsweringServer.accepted(request) }
            open += 1
            return window
        }
        var configuration = PoolConfiguration(
            endpoint: Endpoint(host: "localhost", port: server.port, caFile: scratch.path("ca.pem")),
            bundleID: "com.example.app", connections: 1)
        configuration.waitForEver()
        let harness = try PoolHarness(
            loop: loop, source: MemorySource(activities: 2000, payload: payload), configuration: configuration,
            credentials: try ProviderToken(keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789"))
        harness.source.mayHandOut = 1
        harness.run("the first") { harness.source.settled == 1 }
        bodyBytes = UInt32(harness.pool.statistics.sentSize.bytes)
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        harness.run("about as many as it allows") { open > streams - 16 }
        harness.pool.close {}
        loop.onTurn = nil
        withExtendedLifetime(server) {}
    }

    /// Sixty-four connections with room for sixty-four thousand pushes hold up commands and answers for some pulls, not for all.
    @Test func pullsLeaveTheLoopToOthersAfterAFewMilliseconds() throws {
        let (server, harness) = try scratch.world(
            activities: 40_000, connections: 8, { $0.waitForEver() }, answer: AnsweringServer.accepted)
        var pulls: [UInt64: Int] = [:]
        harness.source.whenPulled = {
            pulls[harness.loop.turns, default: 0] += 1
            harness.time.leap(.milliseconds(2))
        }
        harness.run("the last") { harness.source.settled == 40_000 }
        harness.source.whenPulled = nil
        // The pull that passes the fourth millisecond is the last of its turn; the leaps may have a moment between them.
        #expect(pulls.values.max() ?? 0 <= 3, "\(pulls.values.max() ?? 0) pulls in one turn")
        #expect(pulls.values.contains { $0 > 1 })
        #expect(server.connections == 8)
        harness.close()
    }
}
