import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import Foundation
import Testing

/// A thread, or a machine, that does not run for a while.
@Suite struct StallTests {
    /// The thread is suspended for longer than a request's timeout, and the answer comes meanwhile: it counts.
    @Test func anAnswerThatCameDuringAStallCounts() throws {
        let scratch = try Scratch()
        try scratch.makeCertificates()
        let loop = try Loop()
        let server = try AnsweringServer(loop: loop, scratch: scratch) {
            // Server and client share the thread: this sleep is the stall, not a wait for another thread.
            usleep(300_000)
            return AnsweringServer.accepted($0)
        }
        var configuration = PoolConfiguration(
            endpoint: Endpoint(host: "localhost", port: server.port, caFile: scratch.path("ca.pem")),
            bundleID: "com.example.app", connections: 1)
        configuration.requestTimeout = .milliseconds(100)
        // A shard has timers of its own: one that is due meanwhile makes the pool check its work before it reads.
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
        #expect(harness.source.count(.uncertain) == 0)
        other.close()
        pool = nil
        harness.close()
    }
}
