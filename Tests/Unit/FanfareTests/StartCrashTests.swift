import Testing

@testable import CrashSimulation

@Suite struct StartCrashTests {
    @Test func aCrashAtAnyMomentStartsNoCardTwiceAndForgetsNoStart() {
        let worlds = CrashSeeds(40)
        var met = StartCrashWorld.Met()
        for seed in worlds.seeds {
            let world = StartCrashWorld(seed: seed)
            world.onHappening = worlds.tell
            if let violation = world.play(lives: 5) { Issue.record("seed \(seed): \(violation)") }
            met += world.met
        }
        #expect(met.left > 200 && met.leftLater > 60, "\(met)")
        #expect(met.givenUp > 60 && met.lost > 2, "\(met)")
    }

    @Test func noStartThatWaitsIsLostByAnOperatorsWorkBetweenTwoLives() {
        let worlds = CrashSeeds(20)
        var met = StartCrashWorld.Met()
        for seed in worlds.seeds {
            let world = StartCrashWorld(seed: seed, isKeptUp: true)
            world.onHappening = worlds.tell
            if let violation = world.play(lives: 5) { Issue.record("seed \(seed): \(violation)") }
            met += world.met
        }
        #expect(met.waited > 5 && met.maintenance.outages > 10, "\(met)")
    }
}
