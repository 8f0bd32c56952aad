import Foundation
import Testing

@Suite struct StartCrashTests {
    private static func asked(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

    @Test func whateverTheMomentOfACrashNoCardIsStartedTwiceAndNoStartIsForgotten() {
        let first = UInt64(Self.asked("FANFARE_CRASH_SEED") ?? 1)
        var met = StartCrashWorld.Met()
        for seed in first..<first + UInt64(Self.asked("FANFARE_CRASH_WORLDS") ?? 40) {
            let world = StartCrashWorld(seed: seed)
            if Self.asked("FANFARE_CRASH_TELL") != nil { world.onHappening = { print($0) } }
            if let violation = world.play(lives: 5) { Issue.record("seed \(seed): \(violation)") }
            met += world.met
        }
        #expect(met.left > 200 && met.leftLater > 60, "\(met)")
        #expect(met.givenUp > 60 && met.lost > 2, "\(met)")
    }
}
