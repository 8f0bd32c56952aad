import Testing

@testable import CrashSimulation

@Suite struct EndCrashTests {
    @Test func noCrashLosesAnEndAndEveryCardShowsItsTopicAfterwards() {
        let worlds = CrashSeeds(40)
        var met = EndCrashWorld.Met()
        for seed in worlds.seeds {
            let world = EndCrashWorld(seed: seed)
            world.onHappening = worlds.tell
            if let violation = world.play(lives: 5) { Issue.record("seed \(seed): \(violation)") }
            met += world.met
        }
        #expect(
            met.ends > 400 && met.tenures > 200 && met.beside > 40 && met.shown > 400 && met.dismissals > 0, "\(met)")
    }
}
