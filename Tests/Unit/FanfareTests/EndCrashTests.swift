import Foundation
import Testing

@Suite struct EndCrashTests {
    private static func asked(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

    @Test func whateverTheMomentOfACrashNoEndIsLostAndEverybodyShowsTheirTopic() {
        let first = UInt64(Self.asked("FANFARE_CRASH_SEED") ?? 1)
        var met = EndCrashWorld.Met()
        for seed in first..<first + UInt64(Self.asked("FANFARE_CRASH_WORLDS") ?? 40) {
            let world = EndCrashWorld(seed: seed)
            if Self.asked("FANFARE_CRASH_TELL") != nil { world.onHappening = { print($0) } }
            if let violation = world.play(lives: 5) { Issue.record("seed \(seed): \(violation)") }
            met += world.met
        }
        #expect(met.ends > 400 && met.turns > 200 && met.beside > 40 && met.shown > 400, "\(met)")
    }
}
