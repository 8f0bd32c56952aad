import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import Testing

/// Connections that end while no push is sent: an end is no refusal, unless the server does not take new ones.
@Suite struct QuietEndTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.makeCertificates()
    }

    /// The first two connections were ended young so often that their slots wait for half a minute; then all others end at once.
    @Test func anySlotMayDialWhileNoConnectionIsOpen() throws {
        let (server, harness) = try scratch.growingWorld(activities: 1, demand: 10_000_000, connectionsMax: 4)
        harness.run("being as many as there may be") { harness.pool.figures.connections == 4 }
        // Connections that have lasted a minute are given up only after ten minutes.
        harness.time.leap(.seconds(61))
        var places = [0, 1]
        for round in 1...10 {
            let before = server.connections
            for connection in places { server.write(frame(7, big(0) + big(0)), on: connection) }
            harness.run("both ends \(round)") { harness.pool.figures.connections == 2 }
            guard round < 10 else { break }
            let leaps = harness.leaps(of: .milliseconds(50))
            harness.run("both again") { harness.pool.figures.connections == 4 }
            leaps.close()
            places = [before, before + 1]
        }
        let before = server.connections
        for connection in 2..<4 { server.write(frame(7, big(0) + big(0)), on: connection) }
        harness.run("being without") { harness.pool.figures.connections == 0 }
        let begins = harness.time.passed
        let leaps = harness.leaps(of: .milliseconds(2))
        harness.run("another one") {
            harness.pool.figures.connections > 0 || harness.time.passed - begins > .seconds(5)
        }
        leaps.close()
        #expect(harness.pool.figures.connections > 0 && server.connections <= before + 4)
        harness.close()
    }

    /// A firewall ends connections that were idle for half a minute, with a GOAWAY or without: that is no refusal, and the next push waits
    /// only for seconds.
    @Test(arguments: [true, false]) func aPeerThatEndsQuietConnectionsIsDialledAgainWithinSeconds(saysSo: Bool) throws {
        let (server, harness) = try scratch.growingWorld(activities: 1, demand: 0)
        harness.run("being ready") { harness.pool.isReady }
        for round in 1...12 {
            harness.time.leap(.seconds(30))
            let ended = server.connectionsEnded
            for connection in server.connections - 2..<server.connections {
                if saysSo {
                    server.write(frame(7, big(0) + big(0)), on: connection)
                } else {
                    server.end(connection: connection)
                }
            }
            harness.run("the ends") { server.connectionsEnded == ended + 2 && harness.pool.connectionsOpen == 0 }
            let begins = harness.time.passed
            let leaps = harness.leaps(of: .milliseconds(10))
            harness.run("both again") {
                harness.pool.connectionsOpen == 2 || harness.time.passed - begins > .seconds(20)
            }
            leaps.close()
            guard harness.pool.connectionsOpen == 2 else {
                Issue.record("round \(round): nobody is open after \(harness.time.passed - begins)")
                break
            }
        }
        #expect(harness.pool.trouble == nil, "\(harness.pool.trouble?.text ?? "")")
        harness.source.mayHandOut = 1
        harness.pool.workAvailable()
        harness.run("a push") { harness.source.settled == 1 }
        harness.close()
    }

    /// A pool before a match has as many connections as it wants, however often the idle ones are ended.
    @Test func aLargePoolOfQuietConnectionsStaysLargeThoughTheyAreEnded() throws {
        let wanted = 12
        let (server, harness) = try scratch.growingWorld(activities: 1, demand: 10_000_000, connectionsMax: wanted)
        harness.run("being as many as there may be") { harness.pool.connectionsOpen == wanted }
        var oldest = 0
        for round in 1...6 {
            harness.time.leap(.seconds(30))
            let all = oldest..<server.connections
            oldest = all.upperBound
            // All connections end but one, on which the peer is heard.
            for connection in all where connection != all.lowerBound { server.end(connection: connection) }
            harness.run("the ends \(round)") { harness.pool.connectionsOpen <= 1 }
            let begins = harness.time.passed
            let leaps = harness.leaps(of: .milliseconds(10))
            harness.run("being as many again") {
                harness.pool.connectionsOpen == wanted || harness.time.passed - begins > .seconds(20)
            }
            server.end(connection: all.lowerBound)
            harness.run("the last one, too") {
                harness.pool.connectionsOpen == wanted || harness.time.passed - begins > .seconds(40)
            }
            leaps.close()
            #expect(harness.pool.connectionsOpen == wanted, "round \(round)")
        }
        #expect(!harness.reports.contains { $0.contains("takes no more") }, "\(harness.reports)")
        harness.close()
    }

    /// Four connections that got GOAWAYs young are trouble; their successors that stay end it, even without a push.
    @Test func troubleWithConnectionsIsOverWhenOneStays() throws {
        let (server, harness) = try scratch.growingWorld(activities: 1, demand: 0)
        harness.run("being ready") { harness.pool.isReady }
        for round in 1...2 {
            for connection in server.connections - 2..<server.connections {
                server.write(frame(7, big(0) + big(0)), on: connection)
            }
            harness.run("being without \(round)") { harness.pool.connectionsOpen == 0 }
            if round == 2 { #expect(harness.pool.trouble?.kind == .service) }
            let leaps = harness.leaps(of: .milliseconds(5))
            harness.run("being two again") { harness.pool.connectionsOpen == 2 }
            leaps.close()
        }
        #expect(harness.pool.trouble?.kind == .service, "they have not stayed yet")
        let begins = harness.time.passed
        let leaps = harness.leaps(of: .milliseconds(50))
        harness.run("staying") { harness.pool.trouble == nil || harness.time.passed - begins > .seconds(180) }
        leaps.close()
        #expect(harness.pool.trouble == nil)
        harness.close()
    }

    /// A path breaks, and connections are found dead one after the other while no new one opens: many slots have tried by the time the
    /// last one is dead, and as few dial as when all end at once.
    @Test func fewConnectionsAreDialledInAnOutageThatComesBitByBit() throws {
        let (server, harness) = try scratch.growingWorld(activities: 1, demand: 10_000_000, connectionsMax: 16)
        harness.run("being as many as there may be") { harness.pool.figures.connections == 16 }
        harness.time.leap(.seconds(61))
        server.connectionsMax = 0
        for connection in 0..<16 {
            server.end(connection: connection)
            let ends = harness.time.passed + .milliseconds(300)
            let leaps = harness.leaps(of: .milliseconds(10))
            harness.run("end \(connection)") {
                harness.time.passed >= ends && harness.pool.figures.connections < 16 - connection
            }
            leaps.close()
        }
        let failures = harness.pool.statistics.connectFailures
        let ends = harness.time.passed + .seconds(60)
        let leaps = harness.leaps(of: .milliseconds(20))
        harness.run("a minute") { harness.time.passed >= ends }
        leaps.close()
        #expect(harness.pool.statistics.connectFailures - failures < 80)
        harness.close()
    }
}
