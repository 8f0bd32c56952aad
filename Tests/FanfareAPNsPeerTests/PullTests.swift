import FanfareAPNs
import FanfareLoop
import Testing

/// How much a pool takes at a time.
@Suite struct PullTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.makeCertificates()
    }

    /// Over a distance answers come a few at a time, on many connections: pushes that were pulled one by one would each be a record, a write
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
}
