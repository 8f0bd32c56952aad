import FanfareAPNs
import FanfareCore
import FanfareLoop
import Foundation
import Testing

/// Pools that choose how many connections they have.
@Suite struct GrowingPoolTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.makeCertificates()
    }

    private func world(
        activities: Int, demand: Int, connections: Int? = nil, connectionsMax: Int = 64,
        answer: @escaping AnsweringServer.Answer = AnsweringServer.accepted
    ) throws -> (server: AnsweringServer, harness: PoolHarness) {
        let loop = try Loop()
        let server = try AnsweringServer(loop: loop, scratch: scratch, answer: answer)
        server.pongsAfter = .milliseconds(50)
        var configuration = ConnectionPool.Configuration(
            endpoint: Endpoint(host: "localhost", port: server.port, caFile: scratch.path("ca.pem")),
            bundleID: "com.example.app", connections: connections)
        configuration.connectionsMax = connectionsMax
        // A stall of the machine says nothing about the peer.
        configuration.requestTimeout = .seconds(86_400)
        configuration.connectTimeout = .seconds(86_400)
        configuration.pingTimeout = .seconds(86_400)
        let source = MemorySource(activities: activities, payload: examplePayload())
        source.demand = demand
        source.mayHandOut = 0
        let harness = try PoolHarness(
            loop: loop, source: source, configuration: configuration,
            credentials: try ProviderToken(keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789"))
        return (server, harness)
    }

    /// A hundred thousand people, fifty milliseconds away: before anything is pushed there are connections for all of them.
    @Test func connectionsAreOpenBeforeTheFirstPush() throws {
        let (server, harness) = try world(activities: 1, demand: 100_000)
        harness.run("being ready") { harness.pool.isReady }
        #expect(server.requests == 0)
        #expect(server.connections >= 10, "\(server.connections)")
        #expect(harness.pool.figures.connections == server.connections)
        #expect(harness.pool.figures.roundTrip >= 50_000_000)
        harness.close()
    }

    @Test func aFewPeopleGetTwoConnections() throws {
        let (server, harness) = try world(activities: 1, demand: 100)
        harness.run("being ready") { harness.pool.isReady }
        #expect(server.connections == 2)
        harness.close()
    }

    @Test func thereAreNoMoreThanTheMost() throws {
        let (server, harness) = try world(activities: 1, demand: 10_000_000, connectionsMax: 5)
        harness.run("being ready") { harness.pool.isReady }
        #expect(server.connections == 5)
        harness.close()
    }

    @Test func aPeerThatRefusesTheNinthConnectionIsServedWithEight() throws {
        let (server, harness) = try world(activities: 20_000, demand: 1_000_000)
        server.connectionsMax = 8
        harness.run("being ready") { harness.pool.isReady }
        #expect(harness.pool.figures.connections == 8)
        #expect(harness.reports.contains { $0.hasSuffix("takes no more than 8 connections") }, "\(harness.reports)")
        #expect(server.turnedAway <= 8, "it is asked a few times, and then left alone")
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        harness.run("settling") { harness.source.settled == 20_000 }
        #expect(harness.source.count(.accepted) == 20_000)
        #expect(harness.pool.trouble == nil)
        harness.close()
    }

    /// A few pushes at a time, as between goals: a connection that none of them went to would begin with one when a goal comes.
    @Test func whatLittleThereIsToPushWarmsAllConnections() throws {
        let (server, harness) = try world(activities: 10_000, demand: 0, connections: 5)
        harness.run("being ready") { harness.pool.isReady }
        for round in 1...100 {
            harness.source.mayHandOut = round * 100
            harness.pool.workAvailable()
            harness.run("round \(round)") { harness.source.settled == round * 100 }
        }
        #expect(server.requestsByConnection.allSatisfy { $0 > 1000 }, "\(server.requestsByConnection)")
        harness.close()
    }
}
