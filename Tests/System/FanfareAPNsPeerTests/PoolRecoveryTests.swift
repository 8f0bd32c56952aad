import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import Foundation
import Testing

/// Pools whose peer refuses connections, or ends them: how many come back, and how soon.
@Suite struct PoolRecoveryTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.makeCertificates()
    }

    /// Returns a function that makes the pools of an app with this many shards, on one loop, with one time.
    private func shards(
        _ count: Int, of server: AnsweringServer, on loop: Loop, connectionsMax: Int, time: LoopTime = LoopTime()
    ) throws -> (_ demand: Int) throws -> PoolHarness {
        // An address needs no look-up: all pools would dial when a name is resolved.
        var configuration = PoolConfiguration(
            endpoint: Endpoint(host: "127.0.0.1", port: server.port, caFile: scratch.path("ca.pem")),
            bundleID: "com.example.app")
        configuration.quota = ConnectionQuota(most: connectionsMax * count, pools: count)
        configuration.bearStalls()
        let credentials = try ProviderToken(
            keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789")
        return { [configuration] demand in
            let source = MemorySource(activities: 1, payload: examplePayload())
            source.demand = demand
            source.mayHandOut = 0
            return try PoolHarness(
                loop: loop, source: source, configuration: configuration, credentials: credentials, time: time)
        }
    }

    /// One connection of four, or of two, answers thirty times as late as the others for ten seconds: it is replaced, and pushes go to the
    /// others meanwhile.
    @Test(arguments: [2, 4]) func aConnectionThatStaysSlowIsReplaced(connections: Int) throws {
        var late: [AnsweringServer.Request] = []
        let (server, harness) = try scratch.growingWorld(activities: 60_000, demand: 0, connections: connections) {
            guard $0.connection == 0, $0.number > 0 else { return AnsweringServer.accepted($0) }
            late.append($0)
            return []
        }
        let answers = LoopTimer(loop: harness.loop) {
            for request in late { server.write(AnsweringServer.accepted(request), on: 0) }
            late = []
        }
        answers.start(after: .milliseconds(300), repeating: .milliseconds(300))
        harness.run("being ready") { harness.pool.isReady }
        var known: [Int] = []
        var round = 0
        while server.connections == connections, round < 150 {
            round += 1
            harness.source.mayHandOut = round * 400
            harness.pool.workAvailable()
            harness.run("round \(round)") { harness.source.settled == round * 400 }
            harness.time.leap(.milliseconds(500))
            // The connection's delay is known by this round.
            if round == 5 { known = server.requestsByConnection }
        }
        #expect(server.connections == connections + 1)
        let carried = zip(server.requestsByConnection, known).map { $0 - $1 }
        #expect(carried.dropFirst().allSatisfy { 5 * carried[0] <= $0 }, "\(carried)")
        #expect(harness.reports.contains { $0.contains("far more slowly on a connection") }, "\(harness.reports)")
        #expect(harness.source.count(.uncertain) == 0)
        answers.close()
        harness.close()
    }

    @Test func aPeerThatRefusesTheNinthConnectionIsServedWithEight() throws {
        let (server, harness) = try scratch.growingWorld(activities: 20_000, demand: 1_000_000)
        server.connectionsMax = 8
        harness.run("being refused") { harness.reports.contains { $0.hasSuffix("takes no more than 8 connections") } }
        harness.run("being ready") { harness.pool.isReady }
        #expect(harness.pool.figures.connections == 8)
        #expect(server.turnedAway <= 16, "it is asked a few times, and then left alone: \(server.turnedAway)")
        #expect(harness.reports.count { $0.contains("takes no more than") } == 1, "\(harness.reports)")
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        harness.run("settling") { harness.source.settled == 20_000 }
        #expect(harness.source.count(.accepted) == 20_000)
        #expect(harness.pool.trouble == nil)
        harness.close()
    }

    /// A node of the network fails, and most connections with it; it lets no new ones through for twenty seconds. Connections that have carried
    /// pushes come back. If they are refused for many minutes, the peer is taken to want fewer.
    @Test func connectionsThatHaveCarriedComeBackWhenTheyAreLetThrough() throws {
        let (server, harness) = try scratch.growingWorld(
            activities: 20_000, demand: 10_000_000, connectionsMax: 16, settles: { _ in false })
        harness.run("being as many as there may be") { harness.pool.figures.connections == 16 }
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        harness.run("five hundred pushes on each") { server.requestsByConnection.allSatisfy { $0 >= 600 } }
        harness.source.mayHandOut = 0
        harness.run("the last answers") { harness.source.inFlight == 0 }

        func cut() {
            server.connectionsMax = 3
            for connection in 3..<server.connections { server.write(frame(7, big(0) + big(0)), on: connection) }
            harness.run("being cut") { server.connections - server.connectionsEnded == 3 }
        }
        cut()
        let leaps = harness.leaps(of: .milliseconds(10))
        var begins = harness.time.passed
        harness.run("twenty seconds") { harness.time.passed - begins >= .seconds(20) }
        leaps.close()
        #expect(server.turnedAway > 20)
        server.connectionsMax = .max
        begins = harness.time.passed
        let back = harness.leaps(of: .milliseconds(10))
        harness.run("being as many again") {
            harness.pool.figures.connections == 16 || harness.time.passed - begins > .seconds(10)
        }
        back.close()
        #expect(harness.pool.figures.connections == 16)

        cut()
        let longLeaps = harness.leaps(of: .milliseconds(200))
        harness.run("being refused for long") { harness.pool.figures.connectionsWanted == 3 }
        longLeaps.close()
        #expect(harness.reports.contains { $0.hasSuffix("takes no more than 3 connections") }, "\(harness.reports)")
        harness.close()
    }

    /// A deployment ends all connections, and none is accepted for a second. A few handshakes are made at a time, and soon all are back.
    @Test func aPoolIsAsLargeAsBeforeAfterAShortRefusal() throws {
        let (server, harness) = try scratch.growingWorld(activities: 1, demand: 100_000)
        harness.run("being ready") { harness.pool.isReady }
        let before = harness.pool.figures.connections
        server.connectionsMax = 0
        server.goAway()
        harness.run("being turned away") { server.turnedAway >= 4 }
        server.connectionsMax = .max
        harness.run("being as many again") { harness.pool.figures.connections == before }
        #expect(!harness.reports.contains { $0.contains("takes no more") }, "\(harness.reports)")
        #expect(server.handshakesMost <= 4, "\(server.handshakesMost) at a time")
        harness.close()
    }

    /// A server sends GOAWAY to the eight connections of each of eight shards: they come back as those of one pool do.
    @Test func theConnectionsOfAllShardsComeBackAFewASecond() throws {
        let loop = try Loop()
        let server = try AnsweringServer(loop: loop, scratch: scratch, answer: AnsweringServer.accepted)
        server.pongsAfter = .milliseconds(50)
        // Time stands still, so that handshakes take almost none.
        let time = LoopTime(goesOn: false)
        let make = try shards(8, of: server, on: loop, connectionsMax: 8, time: time)
        let pools = try (0..<8).map { _ in try make(100_000) }
        func leaps(of leap: Duration) -> [LoopTimer] {
            pools.enumerated().map { $1.leaps(of: $0 == 0 ? leap : .zero) }
        }
        let growing = leaps(of: .milliseconds(10))
        pools[0].run("being ready") { pools.allSatisfy { $0.pool.figures.connections == 8 } }
        // A GOAWAY to connections that have lasted a minute is no sign of trouble.
        let ready = time.passed
        pools[0].run("a while") { time.passed - ready >= .seconds(61) }
        for timer in growing { timer.close() }
        let slowly = leaps(of: .milliseconds(1))
        var opened: [(at: Duration, count: Int)] = []
        server.goAway()
        pools[0].run("coming back") {
            opened.append((time.passed, server.connections))
            return server.connections == 128 && pools.allSatisfy { $0.pool.figures.connections == 8 }
        }
        let inASecond = opened.map { first in
            (opened.last { $0.at <= first.at + .seconds(1) } ?? first).count - first.count
        }
        #expect(inASecond.max() ?? 0 <= 40)
        for timer in slowly { timer.close() }
        for pool in pools { pool.close() }
    }

    @Test func eachShardHasAsManyConnectionsAfterAnOutage() throws {
        let loop = try Loop()
        let server = try AnsweringServer(loop: loop, scratch: scratch, answer: AnsweringServer.accepted)
        server.pongsAfter = .milliseconds(50)
        let make = try shards(2, of: server, on: loop, connectionsMax: 3)
        let pools = [try make(100_000), try make(100_000)]
        pools[0].run("having all") { pools.allSatisfy { $0.pool.figures.connections == 3 } }
        server.connectionsMax = 0
        server.goAway()
        let leaps = [pools[0].leaps(of: .milliseconds(50)), pools[1].leaps(of: .zero)]
        let begins = pools[0].time.passed
        pools[0].run("an outage") { pools[0].time.passed - begins > .seconds(60) }
        #expect(pools.allSatisfy { $0.pool.figures.connections == 0 })
        server.connectionsMax = .max
        pools[0].run("having all again") { pools.allSatisfy { $0.pool.figures.connections == 3 } }
        for timer in leaps { timer.close() }
        for pool in pools { pool.close() }
    }

    /// The peer has refused another connection to one shard: a second one, which comes later and wants as many, has its first and does not ask.
    @Test func shardsShareWhatAPeerRefuses() throws {
        let loop = try Loop()
        let server = try AnsweringServer(loop: loop, scratch: scratch, answer: AnsweringServer.accepted)
        server.pongsAfter = .milliseconds(50)
        server.connectionsMax = 4
        let make = try shards(2, of: server, on: loop, connectionsMax: 16)
        let first = try make(100_000)
        let leaps = first.leaps(of: .milliseconds(20))
        first.run("being refused") { first.reports.contains { $0.hasSuffix("takes no more than 4 connections") } }
        server.connectionsMax = 5
        let turnedAway = server.turnedAway
        let second = try make(100_000)
        let nudges = second.leaps(of: .zero)
        let begins = first.time.passed
        first.run("a while") { first.time.passed - begins > .seconds(15) }
        #expect(server.turnedAway == turnedAway)
        #expect(first.pool.figures.connections == 4 && second.pool.figures.connectionsWanted == 1)
        for timer in [leaps, nudges] { timer.close() }
        for pool in [first, second] { pool.close() }
    }

    /// The peer reduces the streams that it allows to one: it wants less traffic, and more connections would bring more.
    @Test func aPeerThatAllowsFewerStreamsGetsNoMoreConnections() throws {
        let (server, harness) = try scratch.growingWorld(activities: 3000, demand: 100) {
            AnsweringServer.accepted($0) + ($0.number == 100 ? frame(4, [0, 3] + big(1)) : [])
        }
        harness.run("being ready") { harness.pool.isReady }
        harness.source.mayHandOut = 2000
        harness.pool.workAvailable()
        harness.run("the first ones") { harness.source.settled == 2000 }
        #expect(server.requestsByConnection.allSatisfy { $0 > 100 }, "\(server.requestsByConnection)")
        harness.source.demand = 100_000
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        let begins = harness.time.passed
        harness.run("settling") { harness.source.settled == 3000 && harness.time.passed - begins > .seconds(1) }
        #expect(server.connections <= 4, "\(server.connections)")
        harness.close()
    }

    /// The peer allowed a tenth fewer streams in the afternoon, and keeps to it: a larger audience gets more connections in the evening.
    @Test func aPeerThatAllowedFewerStreamsOnceGetsMoreConnectionsLater() throws {
        let (server, harness) = try scratch.growingWorld(activities: 3000, demand: 100) {
            AnsweringServer.accepted($0) + ($0.number == 100 ? frame(4, [0, 3] + big(900)) : [])
        }
        harness.run("being ready") { harness.pool.isReady }
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        harness.run("settling") { harness.source.settled == 3000 }
        #expect(server.requestsByConnection.allSatisfy { $0 > 100 }, "\(server.requestsByConnection)")
        let before = server.connections
        harness.source.demand = 100_000
        harness.time.leap(.seconds(61))
        // The pool sends a PING before it pushes again, and so learns the round trip.
        harness.pool.workAvailable()
        harness.run("growing") { server.connections >= before + 10 }
        harness.close()
    }

    /// The peer ends each connection after a hundred and fifty pushes, enough for an immediate replacement, with a GOAWAY or without. For a
    /// minute at most two new ones per connection are opened, and ten a second; then all activities are served.
    @Test(arguments: [true, false]) func aPeerThatEndsConnectionsAgainAndAgainGetsAFewASecond(saysSo: Bool) throws {
        let answers = 150
        var (ends, settles) = (true, false)
        // Connections that the pool wants when the peer first says that they are too many: on a slow machine it is ready before it has all.
        var wantedBefore: Int?
        var pool: ConnectionPool?
        let (server, harness) = try scratch.growingWorld(
            activities: 20_000, demand: 100_000,
            answer: {
                guard ends, saysSo else { return AnsweringServer.accepted($0) }
                guard $0.number < answers else { return [] }
                if $0.number == answers - 1 { wantedBefore = wantedBefore ?? pool?.figures.connectionsWanted }
                return AnsweringServer.accepted($0)
                    // ENHANCE_YOUR_CALM
                    + ($0.number == answers - 1 ? AnsweringServer.goAway(after: $0, code: 11) : [])
            }, settles: { settles && $0 == .accepted })
        if !saysSo { server.answersMost = answers }
        pool = harness.pool
        harness.run("being ready") { harness.pool.isReady }
        let before = server.connections
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        let begins = harness.time.passed
        let leaps = harness.leaps(of: .milliseconds(10))
        harness.run("a minute") { harness.time.passed - begins >= .seconds(60) }
        let wanted = harness.pool.figures.connectionsWanted
        // Connections by which the pool has grown replace none.
        let handshakes = server.connections - before - max(0, wanted - before)
        #expect(handshakes <= 600 + 2 * max(wanted, before), "\(handshakes) for \(wanted), \(before) before")
        if saysSo {
            let most = max(before, wantedBefore ?? 0)
            #expect(wanted <= most, "it has said that we are too much: \(wanted), \(most) before")
            #expect(harness.source.count(.uncertain) == 0)
        }
        (ends, settles, server.answersMost) = (false, true, .max)
        harness.run("settling") { harness.source.settled == 20_000 }
        leaps.close()
        harness.close()
    }

    /// The GOAWAY is about a connection that has carried nothing for long; it does not say that there are too many.
    @Test func aPeerThatAsksForCalmOnAQuietConnectionGetsMoreForALargerAudience() throws {
        let (server, harness) = try scratch.growingWorld(activities: 1, demand: 100)
        harness.run("being ready") { harness.pool.isReady }
        harness.time.leap(.seconds(61))
        // ENHANCE_YOUR_CALM
        server.write(frame(7, big(0) + big(11)), on: 0)
        harness.run("another one in its place") { server.connections == 3 && harness.pool.figures.connections == 2 }
        harness.source.demand = 100_000
        let begins = harness.time.passed
        let leaps = harness.leaps(of: .milliseconds(10))
        harness.run("growing") {
            harness.pool.figures.connectionsWanted > 2 || harness.time.passed - begins > .seconds(30)
        }
        leaps.close()
        #expect(harness.pool.figures.connectionsWanted > 2)
        harness.close()
    }

    /// A connection is doubted and answers well again, thirty times: none of its replacements was opened, so the one that is finally
    /// needed does not wait for them.
    @Test func aReplacementThatIsNotNeededIsGivenBack() throws {
        let time = LoopTime(goesOn: false)
        var ill = 0
        let (server, harness) = try scratch.growingWorld(activities: 1000, demand: 0, connectionsMax: 1, time: time) {
            ill -= 1
            return ill < 0
                ? AnsweringServer.accepted($0) : AnsweringServer.refused($0, 503, "ServiceUnavailable")
        }
        harness.run("being ready") { harness.pool.isReady }
        time.leap(.seconds(61))
        for round in 1...30 {
            ill = 8
            let before = harness.source.completed
            harness.source.mayHandOut += 16
            harness.pool.workAvailable()
            harness.run("round \(round)") { harness.source.completed == before + 16 }
        }
        #expect(server.connections == 1 && harness.pool.trouble == nil)
        let text = "503 ServiceUnavailable on a connection; it is replaced"
        #expect(harness.reports.contains { $0.hasSuffix(text) }, "\(harness.reports)")
        ill = 8
        harness.source.mayHandOut += 8
        harness.pool.workAvailable()
        harness.run("being in doubt") { harness.source.count(.serviceError) == 31 * 8 }
        time.leap(.seconds(1))
        harness.pool.workAvailable()
        harness.run("another connection") { server.connections == 2 }
        harness.close()
    }
}
