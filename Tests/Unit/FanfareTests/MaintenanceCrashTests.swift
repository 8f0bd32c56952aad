import Testing

@testable import CrashSimulation

@Suite struct MaintenanceCrashTests {
    @Test func maintenanceBetweenTwoLivesLosesNoCardAndMovesNoneToAnotherApp() {
        let worlds = CrashSeeds(24)
        var met = MaintenanceCrashWorld.Met()
        for seed in worlds.seeds {
            let world = MaintenanceCrashWorld(seed: seed)
            world.onHappening = worlds.tell
            if let violation = world.play(lives: 4) { Issue.record("seed \(seed): \(violation)") }
            met += world.met
        }
        let maintenance = met.maintenance
        #expect(
            maintenance.pruned > 10 && maintenance.trimmed > 10 && maintenance.imported > 10
                && maintenance.outages > 10, "\(met)")
        #expect(met.named > 5 && met.reordered > 10 && met.shown > 50, "\(met)")
        #expect(met.ends > 50 && met.lagging > 10 && met.atDate > 5, "\(met)")
        #expect(met.resting > 10, "\(met)")
    }
}
