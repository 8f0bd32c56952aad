import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import Foundation
import Testing

/// A service that fails behind all connections, or refuses a key: the number of tries, and the reports.
@Suite struct ServiceTroubleTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.makeCertificates()
    }

    // MARK: An outage

    /// The service behind all connections hangs: the requests in flight are lost, and then one push at a time.
    @Test func aServiceThatAnswersNothingIsLeftAlone() throws {
        var hangs = false
        let (server, harness) = try scratch.world(
            activities: 20_000, { $0.requestTimeout = .seconds(1) },
            answer: { hangs ? [] : AnsweringServer.accepted($0) })
        harness.run("some pushes") { harness.source.settled > 5000 }
        hangs = true
        harness.run("trouble") { harness.pool.trouble != nil }
        #expect(harness.pool.trouble?.kind == .service)
        #expect(harness.pool.trouble?.text.contains("leaves requests unanswered; pushes wait") == true)
        let lost = harness.source.count(.uncertain)
        harness.run("six more timeouts") { harness.source.count(.uncertain) >= lost + 6 }
        // The widths of two connections, and a few tries.
        #expect(lost <= 2010)
        #expect(server.connections <= 16)
        #expect(harness.source.inFlight <= 2)
        hangs = false
        harness.run("settling") { harness.source.settled == 20_000 }
        #expect(harness.pool.trouble == nil)
        harness.close()
    }

    /// Ten thousand dead tokens come first after an outage: their answers show as well as others that the service is back.
    @Test func deadTokensOpenTheGate() throws {
        var isOut = true
        var hasAnswered = false
        let (server, harness) = try scratch.world(activities: 10_000) {
            guard !isOut else { return AnsweringServer.refused($0, 503, "ServiceUnavailable") }
            hasAnswered = true
            return AnsweringServer.refused($0, 410, "Unregistered")
        }
        harness.run("trouble") { harness.pool.trouble != nil }
        isOut = false
        var turns = 0
        let before = harness.loop.onTurn
        harness.loop.onTurn = {
            before?()
            if hasAnswered { turns += 1 }
            hasAnswered = false
        }
        harness.run("settling") { harness.source.settled == 10_000 }
        #expect(harness.source.count(.deadToken) == 10_000)
        #expect(harness.pool.trouble == nil)
        #expect(turns < 5000, "one round trip each would take more: answers in \(turns) turns of the loop")
        #expect(server.connections < 10)
        harness.close()
    }

    /// After an outage at most twice as many pushes are in flight as have been answered since, up to a thousand.
    @Test func afterAnOutagePushesComeBackStepByStep() throws {
        var phase = 0
        var answeredSince = 0
        var tooMany: [String] = []
        var harness: PoolHarness!
        let made = try scratch.world(activities: 30_000) {
            if phase == 1 { return AnsweringServer.refused($0, 503, "ServiceUnavailable") }
            if phase == 2, answeredSince < 500 {
                let inFlight = harness.source.inFlight
                if inFlight > 2 * answeredSince + 4 {
                    tooMany.append("\(inFlight) in flight after \(answeredSince) answers")
                }
                answeredSince += 1
            }
            return AnsweringServer.accepted($0)
        }
        harness = made.harness
        harness.run("some pushes") { harness.source.settled > 5000 }
        phase = 1
        harness.run("trouble") { harness.pool.trouble != nil && harness.source.inFlight == 0 }
        phase = 2
        harness.run("settling") { harness.source.settled == 30_000 }
        #expect(tooMany.isEmpty, "\(tooMany.prefix(3))")
        harness.close()
    }

    // MARK: Faults of the configuration

    /// The key is revoked while a thousand pushes are in flight on each connection, and then restored: all of them are pending again.
    @Test func pushesRefusedForARevokedKeyAreSentWhenTheKeyIsMended() throws {
        var isRevoked = false
        let (server, harness) = try scratch.world(activities: 20_000) {
            isRevoked
                ? AnsweringServer.refused($0, 403, "InvalidProviderToken") : AnsweringServer.accepted($0)
        }
        harness.run("some pushes") { harness.source.settled > 5000 }
        isRevoked = true
        harness.run("the stop") { harness.pool.trouble != nil && harness.source.inFlight == 0 }
        let requests = server.requests
        #expect(harness.pool.trouble?.text.hasSuffix("pushing has stopped, one is tried each minute") == true)
        let nudge = harness.leaps(of: .zero)
        for minute in 1...3 {
            harness.time.leap(.seconds(61))
            harness.run("a try") { server.requests == requests + minute }
            harness.run("its answer") { harness.source.inFlight == 0 }
        }
        isRevoked = false
        harness.time.leap(.seconds(61))
        harness.run("settling") { harness.source.settled == 20_000 }
        nudge.close()
        #expect(harness.source.count(.accepted) == 20_000)
        #expect(harness.source.count(.refused) == 0)
        #expect(harness.pool.statistics.refused == 0)
        #expect(harness.pool.trouble == nil)
        harness.close()
    }

    /// A proxy answers for the service, with statuses that are in no table: no state is given up for that.
    @Test(arguments: [421, 404, 400]) func anAnswerThatIsNotOfTheServiceDestroysNothing(status: Int) throws {
        var isProxy = false
        let (server, harness) = try scratch.world(
            activities: 20_000, { $0.waitForEver() },
            answer: { isProxy ? AnsweringServer.refused($0, status) : AnsweringServer.accepted($0) })
        harness.run("some pushes") { harness.source.settled > 5000 }
        isProxy = true
        harness.run("the stop") { harness.pool.trouble != nil && harness.source.inFlight == 0 }
        #expect(harness.pool.trouble?.kind == .configuration)
        let requests = server.requests
        let leaps = harness.leaps(of: .milliseconds(100))
        harness.run("three tries") { server.requests == requests + 3 }
        isProxy = false
        harness.run("settling") { harness.source.settled == 20_000 }
        leaps.close()
        #expect(harness.source.count(.accepted) == 20_000, "\(harness.source.outcomes)")
        harness.close()
    }

    /// Only one activity gets this answer, so the cause is its own, and it is given up after two connections have given it.
    @Test func anUnknownAnswerToOneActivityIsItsOwn() throws {
        var requests = 0
        let (server, harness) = try scratch.world(activities: 1000) {
            requests += 1
            // The activity comes again behind all others.
            return requests == 500 || requests > 1000
                ? AnsweringServer.refused($0, 421) : AnsweringServer.accepted($0)
        }
        harness.run("settling") { harness.source.settled == 1000 }
        #expect(harness.source.count(.accepted) == 999 && harness.source.count(.refused) == 1)
        #expect(requests <= 1020, "\(requests) requests on \(server.requestsByConnection)")
        #expect(harness.pool.trouble == nil)
        harness.close()
    }

    /// The key was revoked and replaced while twenty pushes with it were in flight: their refusals are about the old key.
    @Test func refusalsOfTheKeyBeforeDoNotStopTheOneInUse() throws {
        var held: [AnsweringServer.Request] = []
        var holds = false
        /// Links the key in use; each key has an id of its own.
        func use(_ id: String) throws {
            let (file, link) = (scratch.path("AuthKey_\(id).p8"), scratch.path("key"))
            try ES256PrivateKey.generate().pem().write(toFile: file, atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            try? FileManager.default.removeItem(atPath: link)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        }
        try use("OLD1234567")
        let (server, harness) = try scratch.world(
            activities: 1000, connections: 1, key: ("key", nil), settles: { _ in false }, { $0.waitForEver() },
            answer: {
                guard holds, held.count < 20 else { return AnsweringServer.accepted($0) }
                held.append($0)
                return []
            })
        harness.run("some pushes") { harness.source.count(.accepted) > 500 }
        holds = true
        harness.run("twenty in flight") { held.count == 20 }
        try use("NEW1234567")
        let leaps = harness.leaps(of: .milliseconds(100), every: .milliseconds(5))
        harness.run("the change of key") {
            harness.reports.contains { $0.hasPrefix("the provider key has changed") }
        }
        leaps.close()
        for request in held {
            server.write(AnsweringServer.refused(request, 403, "InvalidProviderToken"), on: request.connection)
        }
        let accepted = harness.source.count(.accepted)
        let before = harness.time.passed
        harness.run("pushes under the new key") {
            harness.source.count(.accepted) > accepted + 2000 && harness.source.count(.notProcessed) == 20
        }
        #expect(harness.time.passed - before < .seconds(20), "nobody waits for the next minute's try")
        #expect(harness.pool.trouble == nil)
        harness.close()
    }

    // MARK: What people are told

    /// Nine activities are fewer than ten pieces of evidence, but none is served, and that is trouble. It comes twice, with equal effect.
    @Test(arguments: [(403, "InvalidProviderToken"), (503, "ServiceUnavailable")])
    func nineActivitiesThatAreNotServedAreTrouble(status: Int, reason: String) throws {
        var isWell = true
        let (server, harness) = try scratch.world(
            activities: 9, settles: { _ in false }, { $0.waitForEver() },
            answer: { isWell ? AnsweringServer.accepted($0) : AnsweringServer.refused($0, status, reason) })
        let source = harness.source
        source.mayHandOut = 0
        let turns = LoopTimer(loop: harness.loop) {
            harness.time.leap(.milliseconds(200))
            if source.inFlight == 0 { source.mayHandOut = source.handedOut + 9 }
            harness.pool.workAvailable()
        }
        turns.start(after: .zero, repeating: .milliseconds(2))
        for _ in 0..<2 {
            let accepted = source.count(.accepted)
            harness.run("some pushes") { source.count(.accepted) >= accepted + 200 }
            #expect(harness.pool.trouble == nil)
            let lines = harness.reports.count
            isWell = false
            harness.run("trouble") { harness.pool.trouble != nil }
            #expect(harness.pool.trouble?.text.contains("\(status) \(reason)") == true)
            #expect(harness.reports.count > lines)
            isWell = true
            harness.time.leap(.seconds(61))
        }
        turns.close()
        harness.close()
        withExtendedLifetime(server) {}
    }

    /// APNs throttles single tokens, of which nobody needs to know, or nearly all of them.
    @Test(arguments: [true, false]) func throttlingOfMostPushesIsReported(isOfMost: Bool) throws {
        let (server, harness) = try scratch.world(activities: 2000, connections: 2) {
            !isOfMost && $0.number % 3 != 0
                ? AnsweringServer.accepted($0) : AnsweringServer.refused($0, 429, "TooManyRequests")
        }
        let nudge = harness.leaps(of: .zero)
        for round in 1...2 {
            harness.source.mayHandOut = 500 * round
            harness.run("round \(round)") {
                harness.source.handedOut == 500 * round && harness.source.inFlight == 0
            }
            harness.time.leap(.seconds(10))
        }
        let text =
            "localhost:\(server.port) answers 429 TooManyRequests to most pushes; they go again later. "
            + "A longer minimumInterval in the rules sends fewer"
        #expect(harness.reports == (isOfMost ? [text] : []))
        #expect(harness.pool.trouble == nil)
        nudge.close()
        harness.close()
    }
}
