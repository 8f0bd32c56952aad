import APNsSimulator
import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import Testing

/// The pool with the fast simulator: the pair that benchmarks measure.
@Suite struct FastSimulatorTests {
    @Test(arguments: [0, 5]) func everyPushIsAccepted(latencyMilliseconds: Int) throws {
        let scratch = try Scratch()
        try scratch.makeCertificates()
        var options = SimulatorOptions()
        options.certificateFile = scratch.path("server.pem")
        options.keyFile = scratch.path("server.key")
        options.deadShare = 0.1
        options.latency = .even(latencyMilliseconds...latencyMilliseconds)
        let loop = try Loop()
        let simulator = try FastSimulator(options, loop: loop)
        let configuration = PoolConfiguration(
            endpoint: Endpoint(host: "localhost", port: simulator.port, caFile: scratch.path("ca.pem")),
            bundleID: "com.example.app")
        let source = MemorySource(activities: 20_000, payload: examplePayload())
        let harness = try PoolHarness(
            loop: loop, source: source, configuration: configuration,
            credentials: ProviderToken(keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789"))
        harness.run("settling") { source.settled == source.activities }
        harness.close()
        simulator.close()
        #expect(source.count(.accepted) + source.count(.deadToken) == 20_000)
        #expect(abs(source.count(.deadToken) - 2000) < 300)
        #expect(simulator.statistics[.accepted] == source.count(.accepted))
        #expect(simulator.summary(cpuSeconds: 0).hasSuffix(" fewest_per_token=1 most_per_token=1"))
        #expect(harness.reports.isEmpty)
    }
}
