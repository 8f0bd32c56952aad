import Testing

@Suite struct UpkeepCrashTests {
    @Test func whateverAnOperatorDoesBetweenTwoLivesEachCardStaysWithItsAppAndIsNotLost() {
        let worlds = CrashSeeds(24)
        var met = UpkeepCrashWorld.Met()
        for seed in worlds.seeds {
            let world = UpkeepCrashWorld(seed: seed)
            world.onHappening = worlds.tell
            if let violation = world.play(lives: 4) { Issue.record("seed \(seed): \(violation)") }
            met += world.met
        }
        let upkeep = met.upkeep
        #expect(upkeep.pruned > 10 && upkeep.trimmed > 10 && upkeep.imported > 10 && upkeep.outages > 10, "\(met)")
        #expect(met.named > 5 && met.reordered > 10 && met.shown > 50, "\(met)")
        #expect(met.ends > 50 && met.lagging > 10 && met.atDate > 5, "\(met)")
        #expect(met.resting > 10, "\(met)")
    }
}
