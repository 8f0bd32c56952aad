import FanfareAPNs
import FanfareFanOut
import FanfareLoop

extension Scratch {
    /// Returns a server with the given answers, and a pool that pushes to it. The caller has to keep the server, which owns its connections.
    func world(
        activities: Int, connections: Int = 2, settings: [UInt8] = [],
        key: (file: String, id: String?) = ("apns.p8", "K123456789"),
        settles: @escaping (DeliveryOutcome) -> Bool = { $0 == .accepted || $0 == .deadToken || $0 == .refused },
        payload: Payload = examplePayload(), _ change: (inout PoolConfiguration) -> Void = { _ in },
        answer: @escaping AnsweringServer.Answer
    ) throws -> (server: AnsweringServer, harness: PoolHarness) {
        let loop = try Loop()
        let server = try AnsweringServer(loop: loop, scratch: self, settings: settings, answer: answer)
        var configuration = PoolConfiguration(
            endpoint: Endpoint(host: "localhost", port: server.port, caFile: path("ca.pem")),
            bundleID: "com.example.app", connections: connections)
        change(&configuration)
        let harness = try PoolHarness(
            loop: loop, source: MemorySource(activities: activities, payload: payload, settles: settles),
            configuration: configuration,
            credentials: try ProviderToken(keyFile: path(key.file), keyID: key.id, teamID: "T123456789"))
        return (server, harness)
    }

    /// Returns a server and a pool that chooses its size, before the first push.
    ///
    /// - Parameter streams: the most that the server allows on a connection.
    func growingWorld(
        activities: Int, demand: Int, connections: Int? = nil, connectionsMax: Int = 64,
        idlePingAfter: Duration = .seconds(45), streams: UInt8? = nil, time: LoopTime = LoopTime(),
        answer: @escaping AnsweringServer.Answer = AnsweringServer.accepted,
        settles: @escaping (DeliveryOutcome) -> Bool = { $0 == .accepted || $0 == .deadToken || $0 == .refused }
    ) throws -> (server: AnsweringServer, harness: PoolHarness) {
        let loop = try Loop()
        let settings: [UInt8] = streams.map { [0, 3, 0, 0, 0, $0] } ?? []
        let server = try AnsweringServer(loop: loop, scratch: self, settings: settings, answer: answer)
        server.pongsAfter = .milliseconds(50)
        var configuration = PoolConfiguration(
            endpoint: Endpoint(host: "localhost", port: server.port, caFile: path("ca.pem")),
            bundleID: "com.example.app", connections: connections)
        configuration.quota = ConnectionQuota(most: connectionsMax)
        configuration.idlePingAfter = idlePingAfter
        configuration.bearStalls()
        let source = MemorySource(activities: activities, payload: examplePayload(), settles: settles)
        source.demand = demand
        source.mayHandOut = 0
        let harness = try PoolHarness(
            loop: loop, source: source, configuration: configuration,
            credentials: try ProviderToken(keyFile: path("apns.p8"), keyID: "K123456789", teamID: "T123456789"),
            time: time)
        return (server, harness)
    }
}

extension PoolConfiguration {
    /// Sets the timeouts so that a stall of the machine is not taken for a fault of the peer.
    mutating func bearStalls() {
        requestTimeout = .seconds(86_400)
        connectTimeout = .seconds(86_400)
        pingTimeout = .seconds(86_400)
    }
}
