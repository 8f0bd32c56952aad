import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import Foundation
import Testing

/// A thread, or a machine, that does not run for a while.
@Suite struct StallTests {
    /// The thread stands still for longer than a request may take, and meanwhile the answer comes: it counts.
    @Test func anAnswerThatCameDuringAStallCounts() throws {
        let scratch = try Scratch()
        try scratch.makeCertificates()
        let loop = try Loop()
        let server = try AnsweringServer(loop: loop, scratch: scratch) {
            // Server and client share the thread: this is the stall, and nobody waits for anything by it.
            usleep(300_000)
            return AnsweringServer.accepted($0)
        }
        var configuration = ConnectionPool.Configuration(
            endpoint: Endpoint(host: "localhost", port: server.port, caFile: scratch.path("ca.pem")),
            bundleID: "com.example.app", connections: 1)
        configuration.requestTimeout = .milliseconds(100)
        // A shard has timers of its own: one that is due meanwhile has the pool look around before anything is read.
        var pool: ConnectionPool?
        let other = LoopTimer(loop: loop) {
            usleep(2000)
            pool?.workAvailable()
        }
        other.start(after: .milliseconds(1), repeating: .milliseconds(1))
        let harness = try PoolHarness(
            loop: loop, source: MemorySource(activities: 3, payload: examplePayload()), configuration: configuration,
            credentials: try ProviderToken(keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789"))
        pool = harness.pool
        harness.run("settling") { harness.source.settled == 3 }
        #expect(harness.source.count(.accepted) == 3)
        #expect(harness.source.count(.unknown) == 0)
        other.close()
        pool = nil
        harness.close()
    }
}
