import CountAllocations
import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import Foundation
import Glibc
import Testing

/// Pools that choose how many connections they have.
@Suite struct GrowingPoolTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.makeCertificates()
    }

    /// The pool opens connections for a hundred thousand people, fifty milliseconds away, before the first push.
    @Test func connectionsAreOpenBeforeTheFirstPush() throws {
        let (server, harness) = try scratch.growingWorld(activities: 1, demand: 100_000)
        harness.run("being ready") { harness.pool.isReady }
        #expect(server.requests == 0)
        #expect(server.connections >= 10, "\(server.connections)")
        #expect(harness.pool.figures.connections == server.connections)
        // A timer of the server's may begin with its loop's last reading of the clock.
        #expect(try #require(harness.pool.figures.roundTrip) > .milliseconds(1))
        harness.close()
    }

    /// A handshake takes long over a distance; only a few are under way at a time.
    @Test func aFewHandshakesAreUnderWayAtATime() throws {
        let (server, harness) = try scratch.growingWorld(activities: 1, demand: 10_000_000, connectionsMax: 12)
        harness.run("the first connections") { harness.pool.figures.connections == 2 }
        server.greets = false
        let leaps = harness.leaps(of: .milliseconds(10))
        harness.run("those under way") { server.ungreeted == 4 }
        let begins = harness.time.passed
        harness.run("a while") { harness.time.passed - begins > .seconds(1) }
        leaps.close()
        server.greets = true
        harness.run("being as many as there may be") { harness.pool.figures.connections == 12 }
        #expect(server.handshakesMost == 4 && server.connections == 12)
        harness.close()
    }

    /// A peer beside us answers PINGs at once and pushes after fifty milliseconds: its first answers show it.
    @Test func aPeerThatAnswersLateGetsMoreConnections() throws {
        var late: [AnsweringServer.Request] = []
        let (server, harness) = try scratch.growingWorld(activities: 20_000, demand: 100_000) {
            late.append($0)
            return []
        }
        server.pongsAfter = .zero
        harness.run("being ready") { harness.pool.isReady }
        let planned = server.connections
        // Time stands still but for the answers' delay, so a slow machine makes no distance.
        let answers = LoopTimer(loop: harness.loop) {
            harness.time.leap(.milliseconds(50))
            for request in late { server.write(AnsweringServer.accepted(request), on: request.connection) }
            late = []
        }
        answers.start(after: .milliseconds(5), repeating: .milliseconds(5))
        harness.source.mayHandOut = 20
        harness.pool.workAvailable()
        harness.run("the first answers") { harness.source.settled == 20 }
        let begins = harness.time.passed
        harness.run("more connections") { server.connections > planned || harness.time.passed - begins > .seconds(30) }
        answers.close()
        #expect(server.connections > planned)
        #expect(try #require(harness.pool.figures.roundTrip) >= .milliseconds(50))
        harness.close()
    }

    /// One answer may be late for its token, a lost segment, or a pause of the machine.
    @Test func oneLateAnswerIsNoDistance() throws {
        var late: [AnsweringServer.Request] = []
        let (server, harness) = try scratch.growingWorld(activities: 1000, demand: 10_000) {
            late.append($0)
            return []
        }
        server.pongsAfter = .zero
        harness.run("being ready") { harness.pool.isReady }
        let planned = server.connections
        harness.source.mayHandOut = 1
        harness.pool.workAvailable()
        harness.run("a push") { late.count == 1 }
        harness.time.leap(.milliseconds(600))
        for request in late { server.write(AnsweringServer.accepted(request), on: request.connection) }
        late = []
        harness.run("its answer") { harness.source.settled == 1 }
        let leaps = harness.leaps(of: .milliseconds(10))
        let begins = harness.time.passed
        harness.run("some reviews") { harness.time.passed - begins > .seconds(2) }
        leaps.close()
        #expect(server.connections == planned, "\(server.connections) of \(planned)")
        harness.close()
    }

    /// A peer beside us is at its limit for three minutes, and each answer takes two seconds: that is its queue, not its distance.
    @Test func theQueueOfALongLoadIsNoDistance() throws {
        var waiting: [AnsweringServer.Request] = []
        var hasQueue = false
        let (server, harness) = try scratch.growingWorld(
            activities: 2000, demand: 10_000, connectionsMax: 4, streams: 100, time: LoopTime(goesOn: false),
            answer: {
                if !hasQueue { return AnsweringServer.accepted($0) }
                waiting.append($0)
                return []
            }, settles: { _ in false })
        server.pongsAfter = .zero
        harness.run("being ready") { harness.pool.isReady }
        let planned = harness.pool.figures.connectionsWanted
        harness.source.mayHandOut = 2000
        harness.pool.workAvailable()
        harness.run("the first answers") { harness.source.completed == 2000 }
        hasQueue = true
        // A PING beside the queue takes no time: whatever is on its way arrives before the time leaps.
        var quiet = Quiet()
        let answers = LoopTimer(loop: harness.loop) {
            guard quiet.holds(server.requests + server.pings + server.connections + harness.source.completed) else {
                return
            }
            harness.time.leap(.seconds(2))
            for request in waiting { server.write(AnsweringServer.accepted(request), on: request.connection) }
            waiting = []
            harness.pool.workAvailable()
        }
        answers.start(after: .milliseconds(2), repeating: .milliseconds(2))
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        let begins = harness.time.passed
        harness.run("three minutes of load") { harness.time.passed - begins > .seconds(180) }
        let wanted = harness.pool.figures.connectionsWanted
        harness.source.mayHandOut = 0
        harness.run("the last answers") { harness.source.inFlight == 0 }
        let ends = harness.time.passed
        harness.run("a minute of rest") { harness.time.passed - ends > .seconds(60) }
        answers.close()
        #expect(try #require(harness.pool.figures.roundTrip) < .milliseconds(10))
        #expect(harness.pool.figures.connectionsWanted <= max(planned, wanted))
        harness.close()
    }

    /// Pushes go out every second and a half, so no connection falls silent.
    @Test func aConnectionThatIsNeverSilentMeasuresTheDistanceAgain() throws {
        let (server, harness) = try scratch.growingWorld(
            activities: 1000, demand: 100, time: LoopTime(goesOn: false), settles: { _ in false })
        server.pongsAfter = .zero
        harness.run("being ready") { harness.pool.isReady }
        let pings = server.pings
        // Bytes on their way arrive before the time leaps: on a slow machine they would look like seconds of silence.
        var quiet = Quiet()
        let trickle = LoopTimer(loop: harness.loop) {
            guard quiet.holds(server.requests + server.pings + harness.source.completed) else { return }
            harness.time.leap(.milliseconds(1500))
            harness.source.mayHandOut = harness.source.completed + 20
            harness.pool.workAvailable()
        }
        trickle.start(after: .zero, repeating: .milliseconds(1))
        let begins = harness.time.passed
        harness.run("ten minutes") { harness.time.passed - begins > .seconds(600) }
        trickle.close()
        let perConnection = Double(server.pings - pings) / Double(server.connections)
        #expect((12...15).contains(perConnection), "one each 45 seconds: \(perConnection)")
        harness.close()
    }

    @Test func aFewPeopleGetTwoConnections() throws {
        let (server, harness) = try scratch.growingWorld(activities: 1, demand: 100)
        harness.run("being ready") { harness.pool.isReady }
        #expect(server.connections == 2)
        harness.close()
    }

    @Test func aPoolHasNoMoreConnectionsThanTheMost() throws {
        let (server, harness) = try scratch.growingWorld(activities: 1, demand: 10_000_000, connectionsMax: 5)
        harness.run("being ready") { harness.pool.isReady }
        #expect(server.connections == 5)
        harness.close()
    }

    /// Sixty handshakes one after the other take half a minute over a distance: pushes begin before the last.
    @Test func aPoolThatStillGrowsIsReadyAfterAWhile() throws {
        let (server, harness) = try scratch.growingWorld(activities: 1, demand: 10_000_000)
        harness.run("the first connections") { harness.pool.figures.connections >= 2 }
        #expect(!harness.pool.isReady)
        harness.time.leap(.seconds(11))
        #expect(harness.pool.isReady && server.connections < 64, "\(server.connections)")
        harness.close()
    }

    /// An hour after the last goal one connection a minute is closed, and the two that every pool has stay.
    @Test func afterLongQuietConnectionsAreClosedInOrder() throws {
        // PINGs are disabled, because a leap of time during one would be measured as distance.
        let (server, harness) = try scratch.growingWorld(
            activities: 1, demand: 10_000_000, connectionsMax: 6, idlePingAfter: .seconds(864_000))
        harness.run("being as many as there may be") { harness.pool.figures.connections == 6 }
        harness.source.demand = 0
        let leaps = harness.leaps(of: .seconds(20))
        harness.run("being two") {
            harness.pool.figures.connectionsWanted == 2 && server.connectionsEnded == 4
        }
        leaps.close()
        #expect(server.goAwaysHeard == 4)
        #expect(server.connections == 6 && harness.pool.statistics.connectionsLost == 0, "none comes back")
        harness.close()
    }

    /// A shell's ordinary limit of open files is reached long before the peer's: open connections go on, it is reported, and new ones open when
    /// there is room again. The test has a process of its own, because the limit holds for the whole process.
    @Test(
        .enabled(
            if: allocations_are_counted(), "a sanitizer that finds no file for a new thread's map ends the process"))
    func aProcessWithoutFilesForMoreGoesOnWithThoseThereAre() async {
        await #expect(processExitsWith: .success) {
            let tests = try GrowingPoolTests()
            defer { withExtendedLifetime(tests) {} }
            let (server, harness) = try tests.scratch.growingWorld(activities: 3000, demand: 0)
            harness.run("being ready") { harness.pool.isReady }
            #expect(server.connections == 2)
            // The lowest free descriptor becomes the first one above the limit. Descriptors that the runtime's threads close meanwhile are reused at
            // once: one for the client and none for the server would look like a peer that refuses.
            let free = dup(0)
            close(free)
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let before = limit.rlim_cur
            limit.rlim_cur = rlim_t(free)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let filler = LoopTimer(loop: harness.loop) { while dup(0) >= 0 {} }
            filler.start(after: .zero, repeating: .milliseconds(1))
            while dup(0) >= 0 {}

            harness.source.demand = 100_000
            harness.source.mayHandOut = 3000
            harness.pool.workAvailable()
            harness.run("being short of files") { harness.reports.contains { $0.contains("may open") } }
            let report = "no more than 2 connections, for this process may open \(free) files"
            #expect(harness.reports.contains { $0.contains(report) }, "\(harness.reports)")
            harness.run("settling") { harness.source.settled == 3000 }
            #expect(harness.source.count(.accepted) == 3000)
            #expect(harness.pool.trouble == nil && harness.pool.figures.connectionsWanted == 2)
            let failures = harness.pool.statistics.connectFailures
            #expect(failures < 5, "it is not tried again and again: \(failures)")

            filler.close()
            limit.rlim_cur = before
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            harness.time.leap(.seconds(61))
            harness.pool.workAvailable()
            harness.run("growing") { server.connections >= 10 }
            harness.close()
        }
    }

    /// The service was absent and is back for the one probing push, and no other push is due: the pool grows for later ones.
    @Test func aPoolGrowsAfterAnOutageThoughNothingIsDue() throws {
        var isAway = true
        let (server, harness) = try scratch.growingWorld(activities: 40, demand: 0) {
            isAway ? AnsweringServer.refused($0, 503, "ServiceUnavailable") : AnsweringServer.accepted($0)
        }
        harness.run("being ready") { harness.pool.isReady }
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        harness.run("closing the gate") { harness.pool.trouble != nil }
        isAway = false
        let leaps = harness.leaps(of: .milliseconds(100))
        harness.run("settling") { harness.source.settled == 40 }
        leaps.close()
        let before = server.connections
        harness.source.demand = 100_000
        harness.time.leap(.seconds(11))
        // The pool's timer does not know of leaps; a frame from the server makes it check.
        for connection in 0..<before { server.write(frame(4, []), on: connection) }
        harness.run("growing") { server.connections >= before + 10 }
        harness.close()
    }

    /// Pushes come a few at a time, as between goals: a connection that got none would start narrow at the next goal.
    @Test func fewPushesAtATimeWarmAllConnections() throws {
        let (server, harness) = try scratch.growingWorld(activities: 10_000, demand: 0, connections: 5)
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
