import FanfareCore
import Simulation
import Testing

/// 100,000 steps in each run, the same ones; a failure names its seed, and `World(seed:)` replays it.
@Suite struct WorldTests {
    @Test(arguments: UInt64(1)...50)
    func invariantsHold(seed: UInt64) {
        let world = World(seed: seed, options: World.Options(varying: seed))
        let violation = world.run(steps: 2000)
        #expect(violation == nil, "seed \(seed)")
        #expect(world.pushesSeen > 5, "seed \(seed) saw too little to prove anything")
    }

    /// Worlds that have shown a fault once, of the engine or of its judges: cards that outlived their limit, a version that showed more
    /// or less with an alert, ordinary alerts in the place of an essential one, a dead token that a shut guard held for ever, and an
    /// alert that outlived a weightier one of its topic which others had crowded out. A world that has changed since goes another way,
    /// so each of the engine's faults has a test of its own, too.
    @Test(
        arguments: [
            777_007_520, 123_005_523, 123_017_857, 123_030_813, 123_023_659, 123_030_026, 456_017_473, 456_028_434,
            456_035_126, 1986, 708, 4973,
        ] as [UInt64])
    func whatWasFoundOnceStaysMended(seed: UInt64) {
        #expect(World(seed: seed, options: World.Options(varying: seed)).run(steps: 2000) == nil, "seed \(seed)")
    }

    /// Each process hashes names under a key of its own, which must decide nothing.
    @Test func aSeedIsTheSameWorldInEveryProcess() async throws {
        let there = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { print(WorldTests.digests()) }
        let said = String(decoding: there.standardOutputContent, as: UTF8.self)
        #expect(said.contains(WorldTests.digests()))
    }

    private static func digests() -> String {
        (UInt64(1)...60).map { seed in
            let world = World(seed: seed, options: World.Options(varying: seed))
            _ = world.run(steps: 500)
            return String(world.digest, radix: 16)
        }.joined(separator: " ")
    }
}
