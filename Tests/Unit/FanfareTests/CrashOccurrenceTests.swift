import CrashSimulation
import FanfareTestSupport
import Testing

@Suite struct CrashOccurrenceTests {
    @Test func countsOfSeveralWorldsAddUp() {
        var sum = WorldCounts<CrashOccurrence>()
        var more = WorldCounts<CrashOccurrence>()
        (more[.worlds], more[.steps], more[.crashes], more[.superfluous]) = (1, 300, 4, 2)
        sum += more
        sum += more
        #expect(sum[.worlds] == 2 && sum[.steps] == 600 && sum[.crashes] == 8 && sum[.superfluous] == 4)
    }

    @Test func aFaultThatNeverHappenedIsNamed() {
        var counts = WorldCounts<CrashOccurrence>()
        for occurrence in CrashOccurrence.allCases { counts[occurrence] = 1 }
        #expect(counts.missing.isEmpty)
        (counts[.crashesInSweeps], counts[.sparedLineups]) = (0, 0)
        #expect(counts.missing == ["crashes inside a sweep", "spared lineups"])
    }

    @Test func noRunHasToMeetPushesThatPhonesHadBefore() {
        var counts = WorldCounts<CrashOccurrence>()
        for occurrence in CrashOccurrence.allCases where occurrence != .superfluous { counts[occurrence] = 1 }
        #expect(counts.missing.isEmpty)
    }

    @Test func theTextNamesEachCount() {
        var counts = WorldCounts<CrashOccurrence>()
        (counts[.worlds], counts[.steps], counts[.claims], counts[.superfluous]) = (1, 20, 3, 4)
        #expect(
            counts.text
                == "1 worlds, 20 steps, 0 crashes, 0 crashes inside a sweep, 0 lost writes, 0 torn writes, 0 unheard writes, 0 stalls, "
                + "3 claims, 0 spared lineups, 4 superfluous pushes")
    }
}
