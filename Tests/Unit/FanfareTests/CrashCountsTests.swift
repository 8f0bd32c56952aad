import CrashSimulation
import Testing

@Suite struct CrashCountsTests {
    @Test func countsOfSeveralWorldsAddUp() {
        var sum = CrashCounts()
        var more = CrashCounts()
        (more.worlds, more.steps, more.crashes, more.torn) = (1, 300, 4, 2)
        sum += more
        sum += more
        #expect(sum.worlds == 2 && sum.steps == 600 && sum.crashes == 8 && sum.torn == 4)
    }

    @Test func aFaultThatNeverHappenedIsNamed() {
        var counts = CrashCounts()
        (counts.steps, counts.crashes, counts.lost, counts.torn) = (1, 1, 1, 1)
        (counts.unheard, counts.stalls, counts.claims) = (1, 1, 1)
        #expect(counts.missing == ["crashes inside a sweep"])
        counts.crashesInSweeps = 1
        #expect(counts.missing.isEmpty, "pushes that phones had before are no fault that a run has to meet")
    }

    @Test func theTextNamesEachCount() {
        var counts = CrashCounts()
        (counts.worlds, counts.steps, counts.claims, counts.superfluous) = (1, 20, 3, 4)
        #expect(
            counts.text
                == "1 worlds, 20 steps, 0 crashes, 0 crashes inside a sweep, 0 lost writes, 0 torn writes, 0 unheard writes, 0 stalls, "
                + "3 claims, 4 superfluous pushes")
    }
}
