import Foundation
import Testing

@testable import Fanfare

@Suite struct EngineWorldTests {
    /// Reads a setting for longer runs than CI's: the number of worlds, the first one's seed, or whether events are printed.
    private static func asked(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

    @Test func everythingArrivesHoweverFullTheRingsWere() {
        let first = UInt64(EngineWorldTests.asked("FANFARE_ENGINE_SEED") ?? 1)
        let count = UInt64(EngineWorldTests.asked("FANFARE_ENGINE_WORLDS") ?? 50)
        var met = EngineWorld.Met()
        for seed in first..<first + count {
            let world = EngineWorld(seed: seed)
            if EngineWorldTests.asked("FANFARE_ENGINE_TELL") != nil { world.onHappening = { print($0) } }
            if let violation = world.play(steps: 1000) { Issue.record("seed \(seed), \(violation)") }
            met += world.met
        }
        guard count >= 50 else { return }
        #expect(met.pushes > 0 && met.congested > 0 && met.heldUp > 0 && met.refusals > 0, "\(met)")
        #expect(met.settled > 0 && met.stops > 0, "\(met)")
        if EngineWorldTests.asked("FANFARE_ENGINE_WORLDS") != nil { print("\(count) worlds: \(met)") }
    }

    /// The disk syncs now and then. The engine with a store keeps all promises of the one without, no push precedes its entry, and a restart
    /// from a checkpoint knows what one from all entries does.
    @Test func nothingLeavesBeforeItIsDurable() {
        let first = UInt64(EngineWorldTests.asked("FANFARE_ENGINE_SEED") ?? 1)
        let count = UInt64(EngineWorldTests.asked("FANFARE_ENGINE_WORLDS") ?? 25)
        var met = EngineWorld.Met()
        for seed in first..<first + count {
            let world = EngineWorld(seed: seed, disk: ManualDisk(seed: seed))
            if EngineWorldTests.asked("FANFARE_ENGINE_TELL") != nil { world.onHappening = { print($0) } }
            if let violation = world.play(steps: 1000) { Issue.record("seed \(seed) with a store, \(violation)") }
            met += world.met
        }
        // A late stop waited for room at a shard that was not scheduled.
        for seed in [700_034, 700_206, 700_272] as [UInt64] {
            let violation = EngineWorld(seed: seed, disk: ManualDisk(seed: seed)).play(steps: 1000)
            if let violation { Issue.record("seed \(seed) with a store, \(violation)") }
        }
        #expect(
            count < 25 || met.pushes > 0 && met.settled > 0 && met.stops > 0 && met.restarts > 15 && met.claimed > 100,
            "\(met)")
    }
}

extension EngineWorld.Met {
    fileprivate static func += (sum: inout Self, more: Self) {
        sum.pushes += more.pushes
        sum.congested += more.congested
        sum.heldUp += more.heldUp
        sum.refusals += more.refusals
        sum.settled += more.settled
        sum.stops += more.stops
        sum.restarts += more.restarts
        sum.claimed += more.claimed
    }
}
