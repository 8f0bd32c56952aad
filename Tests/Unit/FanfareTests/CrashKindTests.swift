import CrashSimulation
import FanfareTestSupport
import Testing

@Suite struct CrashKindTests {
    @Test func aWorldCountsItsStepsAndTheDeathsOfItsEngine() {
        let (violation, counts) = CrashKind.ends.play(seed: 1, tears: false)
        #expect(violation == nil)
        #expect(counts[.worlds] == 1 && counts[.crashes] == 5 && counts[.steps] >= 20, "\(counts)")
        #expect(counts[.torn] == 0 && counts[.unheard] == 0, "no write is torn unless the disk tears")
    }

    @Test func aWorldTellsWhatHappensInIt() {
        var lines: [String] = []
        _ = CrashKind.starts.play(seed: 1, tears: true) { lines.append($0) }
        #expect(lines.contains { $0.contains("life 6 ") }, "\(lines.count) lines")
    }
}
