import FanfareAPNs
import FanfareFanOut
import Foundation
import Testing

/// nghttpd is a server that we did not write: with `--echo-upload` it answers 200 to every POST.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/nghttpd"), "apt install nghttp2-server"))
struct NghttpdTests {
    private func serve(_ options: String..., pushes: Int, connections: Int = 2) throws -> PoolHarness {
        let scratch = try Scratch()
        try scratch.makeCertificates()
        let port = try freePort()
        let server = try ServerProcess(
            ["nghttpd", "--address", "127.0.0.1", "--echo-upload", "-d", "."] + options
                + ["\(port)", "server.key", "server.pem"], in: scratch)
        var configuration = PoolConfiguration(
            endpoint: Endpoint(host: "localhost", port: port, caFile: scratch.path("ca.pem")),
            bundleID: "com.example.app", connections: connections)
        configuration.waitForEver()
        let harness = try PoolHarness(
            source: MemorySource(activities: pushes, payload: examplePayload()), configuration: configuration,
            credentials: try ProviderToken(keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789"))
        harness.run("\(pushes) pushes") { harness.source.settled == pushes }
        harness.close()
        server.stop()
        #expect(harness.source.count(.accepted) == pushes)
        #expect(harness.pool.statistics.accepted == pushes)
        #expect(harness.pool.trouble == nil)
        return harness
    }

    @Test func nghttpdAcceptsEveryPush() throws {
        let harness = try serve(pushes: 5000)
        #expect(harness.pool.statistics.connectionsOpened == 2)
        #expect(harness.pool.statistics.connectionsLost == 0)
    }

    /// Bodies are larger than the stream's window, so each needs WINDOW_UPDATEs.
    @Test func pushesPassTheSmallWindowsOfNghttpd() throws {
        _ = try serve("--window-bits=6", "--connection-window-bits=16", pushes: 2000)
    }

    @Test func pushesPassOneStreamAndPaddingOfNghttpd() throws {
        _ = try serve("--max-concurrent-streams=1", "--padding=200", pushes: 500, connections: 1)
    }

    @Test func pushesPassTheTinyHeaderTableOfNghttpd() throws {
        _ = try serve("--header-table-size=0", pushes: 500)
    }
}
