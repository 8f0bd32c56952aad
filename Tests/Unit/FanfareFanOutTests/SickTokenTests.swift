import FanfareModel
import Testing

@testable import FanfareFanOut

/// Tokens that the service always answers with an error, among others.
@Suite struct SickTokenTests {
    private static let sick = 417

    private func service(sick: Set<Int>, members: Int = 1000) -> ScriptedService {
        let service = ScriptedService(members: 0..<members)
        service.answer = { member, _ in sick.contains(member) ? .serviceError : .accepted }
        return service
    }

    @Test func aTokenThatIsAlwaysAnsweredWithAnErrorKeepsNoGoalFromTheOthers() {
        let service = service(sick: [Self.sick])
        service.publish()
        service.run(turns: 40)
        for goal in 1...5 {
            service.pass(seconds: 120)
            service.publish(alert: "goal \(goal)")
            let before = service.moment.monotonic
            service.run(turns: 30)
            #expect(service.told(of: "goal \(goal)").count == 999)
            // The gate made one try at most.
            #expect(service.moment.monotonic - before <= .seconds(ScriptedService.probeSeconds * 2))
            #expect(service.shard.violatedInvariant() == nil)
        }
    }

    @Test func aCardThatCannotBeEndedKeepsNoGoalFromTheOthers() {
        let service = service(sick: [Self.sick])
        service.publish()
        service.run(turns: 40)
        service.unfollow([Self.sick])
        service.run(turns: 2)
        service.publish(alert: "goal")
        service.run(turns: 30)
        #expect(service.told(of: "goal").count == 999)
        // The card is still ended after the fault is mended.
        service.answer = { _, _ in .accepted }
        service.pass(seconds: 120)
        service.run()
        #expect(service.accepted.last?.payload.event == .end)
        #expect(service.shard.isQuiet)
    }

    /// A goal has come to a quarter when a silent version begins a new sweep; those without the goal stay the next ones.
    @Test func aDrawTakesNobodyBeforeThoseWhoLackTheAlert() {
        let service = service(sick: [])
        service.publish()
        service.run(turns: 40)
        service.publish(alert: "goal")
        service.run(turns: 4)
        let told = service.told(of: "goal").count
        #expect(told > 0 && told < 1000)
        service.publish()
        let shard = service.shard
        let audience = shard.membership.awake(0)
        for random in UInt64(0)..<100 {
            audience.drawNext(by: random.mixed, positions: &shard.membership.store.positions)
            service.turn(limit: 1)
        }
        #expect(service.told(of: "goal").count == told + 100)
        #expect(shard.violatedInvariant() == nil)
    }

    @Test func anErrorOfTheServiceIsNoChanceForTheAlertThatRode() {
        let service = service(sick: [3], members: 5)
        service.publish(alert: "goal")
        service.run(turns: 2)
        #expect(!service.told(of: "goal").contains(3))
        service.answer = { _, _ in .accepted }
        service.pass(seconds: 120)
        service.run()
        #expect(service.told(of: "goal") == [0, 1, 2, 3, 4])
    }

    /// The service is away for ten minutes; a thousand of the audience's 5,000 tokens never work, and 500 are dead.
    @Test func activitiesThatAlwaysFailDelayNoOtherAfterAnOutage() {
        let members = 5000
        let isSick = { (member: Int) in member % 5 == 0 }
        let isDead = { (member: Int) in member % 10 == 1 }
        let service = service(sick: [], members: members)
        service.troubleMax = 16
        service.publish()
        service.run()
        service.answer = { _, _ in .serviceError }
        service.publish(alert: "goal")
        let until = service.moment.monotonic + .seconds(600)
        while service.moment.monotonic < until {
            if service.turn() == 0 { service.pass(seconds: 1) }
        }
        service.answer = { member, _ in isSick(member) ? .serviceError : isDead(member) ? .deadToken : .accepted }
        let before = service.moment.monotonic
        // The gate's next try may be for a token that never works.
        while service.isGateShut, service.turn() > 0 {}
        service.run(turns: members / 64 + 20)
        let healthy = (0..<members).filter { !isSick($0) && !isDead($0) }
        let told = service.told(of: "goal")
        #expect(healthy.allSatisfy(told.contains))
        #expect(service.moment.monotonic - before <= .seconds(ScriptedService.probeSeconds * 3))
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// The only activity has been the gate's try again and again during ten minutes of trouble.
    @Test func activityTriedThroughoutAnOutageResumesWithinSecondsOfItsEnd() {
        let service = service(sick: [0], members: 1)
        service.publish()
        for _ in 0..<600 {
            service.turn()
            service.pass(seconds: 1)
        }
        service.answer = { _, _ in .accepted }
        var seconds = 0
        while service.accepted.isEmpty, seconds < 100 {
            if !service.pull().isEmpty { break }
            service.pass(seconds: 1)
            seconds += 1
        }
        #expect(seconds <= 10)
    }

    @Test func aTokenWhoseRequestsAreAlwaysLostWaitsLongerAndLonger() {
        let service = ScriptedService(members: 0..<2)
        service.answer = { member, _ in member == 0 ? .uncertain : .accepted }
        for version in 0..<100 {
            service.publish(alert: "goal \(version)")
            service.run(turns: 100)
            service.pass(seconds: 1)
        }
        #expect(service.pushes < 100 + 30)
        #expect(service.accepted.count == 100)
    }

    @Test func aFailedActivityIsServedBehindAllOthersWhateverTheLane() {
        let service = ScriptedService()
        let quiet = TopicID("quiet")
        service.follow(1)
        for member in 2..<102 { service.follow(member, .topic(quiet)) }
        service.answer = { member, _ in member == 1 ? .serviceError : .accepted }
        service.publish(alert: "goal")
        service.turn()
        service.pass(seconds: 60)
        service.publish(quiet, priority: .conserving)
        // The failing activity is still retried now and then.
        for _ in 0..<110 { service.turn(limit: 1) }
        #expect(Set(service.accepted.map(\.member)).isSuperset(of: 2..<102))
    }
}

/// A new token ends an activity's wait, whatever its cause.
@Suite struct NewTokenTests {
    @Test(arguments: [DeliveryOutcome.serviceError, .throttled])
    func aNewTokenEndsTheWaitOfTheOldOne(outcome: DeliveryOutcome) {
        let service = ScriptedService(members: 0..<1)
        // The gate stays open: no time passes while the new token is served.
        service.troubleMax = 100
        service.answer = { _, _ in outcome }
        service.publish()
        for _ in 0..<8 {
            service.run()
            service.pass(seconds: 200)
        }
        service.run()
        service.answer = { _, _ in .accepted }
        service.follow(0, number: 1)
        service.run()
        #expect(service.accepted.count == 1)
        #expect(service.shard.isQuiet)
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test func aNewTokenIsServedWhileMostTokensLookDead() {
        let members = 2000
        let service = ScriptedService(members: 0..<members, shard: Shard(feedbackMax: 32_768))
        service.answer = { _, _ in .deadToken }
        service.publish()
        service.run()
        #expect(service.shard.retries.quarantine.isShut)
        let held = members - 1
        service.answer = { member, _ in member == held ? .accepted : .deadToken }
        service.follow(held, number: 1)
        service.publish(alert: "goal")
        service.run(turns: 3)
        #expect(service.told(of: "goal") == [held])
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// The full number of probes is made even if some held activities wait no longer: a person who logs in again takes no other one's probe.
    @Test func activityWithANewTokenIsNoProbe() {
        let members = 1000
        let service = ScriptedService(
            members: 0..<members, shard: Shard(feedbackMax: 32_768, deadTokenProbes: 10))
        service.answer = { _, _ in .deadToken }
        service.publish()
        service.run()
        let held = service.shard.retries.quarantine.count
        var tried: Set<Int> = []
        service.answer = { member, _ in
            tried.insert(member)
            return .deadToken
        }
        for member in members - held..<members - held + 10 { service.follow(member, number: 1) }
        service.run()
        tried = []
        service.pass(seconds: 10)
        service.run()
        #expect(tried.count == 10)
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test func activityHeldRepeatedlyIsQueuedOnce() {
        let members = 1000
        let service = ScriptedService(members: 0..<members, shard: Shard(feedbackMax: 32_768))
        service.answer = { _, _ in .deadToken }
        service.publish()
        service.run()
        let held = service.shard.retries.quarantine.count
        for number in 1...100 {
            for member in 800..<members { service.follow(member, number: number) }
            service.run()
        }
        #expect(service.shard.retries.quarantine.count <= 2 * held + 400)
        #expect(service.shard.violatedInvariant() == nil)
    }
}

/// Ends of leaving activities share the lanes with goals.
@Suite struct DepartureLaneTests {
    @Test func goalOvertakesAHundredThousandDepartures() {
        let service = ScriptedService(members: 0..<100_001)
        service.publish()
        service.run()
        service.unfollow(0..<100_000)
        let before = service.pushes
        service.publish(alert: "goal")
        while service.told(of: "goal").isEmpty, service.pushes < before + 1000 { service.turn() }
        #expect(service.pushes - before <= 300)
        // Leaving activities are ended although goals come faster than they are sent.
        let ends = service.accepted.count { $0.payload.event == .end }
        for goal in 0..<100 {
            service.publish(alert: "goal \(goal)")
            service.turn()
        }
        #expect(service.accepted.count { $0.payload.event == .end } > ends + 1000)
        #expect(service.accepted.first { $0.payload.event == .end }?.member == 0, "first come, first served")
    }

    @Test func departureIsSentDuringALargeSweep() {
        let service = ScriptedService(members: 0..<10_000)
        service.publish()
        service.run()
        service.unfollow(0..<100)
        service.publish(alert: "goal")
        for _ in 0..<32 { service.turn() }
        #expect(service.accepted.count { $0.payload.event == .end } >= 100)
        #expect(service.told(of: "goal").count >= 1500)
    }

    /// A state that changes and changes back needs no push, but each member is visited.
    @Test func onePullLooksAtBoundedlyMany() {
        let members = 100_000
        let service = ScriptedService(members: 0..<members)
        service.publish(state: ["score": 1])
        service.run()
        service.publish(state: ["score": 2])
        service.publish(state: ["score": 1])
        #expect(service.shard.statistics.owed == members)
        var turns = 0
        repeat {
            let owed = service.shard.statistics.owed
            #expect(service.turn() == 0)
            #expect(owed - service.shard.statistics.owed <= 16_384)
            #expect(
                service.shard.statistics.owed == 0
                    || service.shard.nextDue ?? .never <= service.moment.monotonic)
            turns += 1
        } while service.shard.statistics.owed > 0 && turns < 1000
        #expect(service.shard.isQuiet)
    }
}
