import FanfareTestSupport
import Testing

@testable import CrashSimulation

@Suite struct LineupCrashTests {
    @Test func lineupsFollowTheirTopicsAndTheirPeopleThroughCrashesAndStops() {
        let worlds = CrashSeeds(40)
        var met = WorldCounts<LineupCrashWorld.Occurrence>()
        var counts = WorldCounts<CrashOccurrence>()
        for seed in worlds.seeds {
            let world = LineupCrashWorld(seed: seed)
            world.onHappening = worlds.tell
            if let violation = world.play(lives: 5) { Issue.record("seed \(seed): \(violation)") }
            met += world.met
            counts += world.counts
        }
        for occurrence in LineupCrashWorld.Occurrence.allCases {
            #expect(met[occurrence] > 10, "\(occurrence): \(met[occurrence])")
        }
        #expect(counts[.sparedLineups] > 10, "\(counts)")
    }
}
