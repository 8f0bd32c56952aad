import FanfareTestSupport
import Simulation
import Testing

/// Runs of 100,000 steps, always the same ones; a failure names its seed, and `World(seed:)` replays it.
@Suite struct WorldTests {
    @Test(arguments: UInt64(1)...50)
    func simulatedWorldViolatesNoInvariant(seed: UInt64) {
        let world = World(seed: seed, options: WorldOptions(varying: seed))
        let violation = world.run(steps: 2000)
        #expect(violation == nil, "seed \(seed)")
        #expect(world.counts[.pushes] > 5, "seed \(seed) saw too little to prove anything")
    }

    /// Worlds that have once shown a fault of the engine or of its judges: cards that outlived their limit, a version that showed more
    /// or less with an alert, ordinary alerts in the place of an essential one, a dead token that a shut guard held for ever, and an
    /// alert that outlived a weightier one of its topic which others had crowded out. With more trouble these followed: alerts and ends of
    /// topics that were over while an activity waited for the next tenure, a lineup that went on and was ended, fates of the second card of a
    /// name, a state that was refused after it had been shown, and an unfollow of the next card that was lost while the old one was being
    /// ended. A world that has changed since takes another course, so each of the engine's faults also has a test of its own, and each
    /// world keeps the troubles that it had.
    @Test(
        arguments: [
            (
                [],
                [
                    777_007_520, 123_005_523, 123_017_857, 123_030_813, 123_023_659, 123_030_026, 456_017_473,
                    456_028_434, 456_035_126, 1986, 708, 4973,
                ]
            ),
            ([.environments], [400_116]), ([.forgetting], [500_314]), ([.handOvers], [501_264]),
            (
                [.comebacks],
                [400_001, 600_001, 600_338, 600_402, 600_405, 600_414, 600_469, 600_681, 600_870, 600_999]
            ),
            (
                Set(WorldOptions.Extra.allCases).subtracting([.silence, .clocks, .lanes, .schedule]),
                [
                    20_840, 20_971, 20_989, 23_178, 50_038, 50_095, 60_047, 700_130, 700_290, 700_810, 800_687,
                    1_795_371_088_019_918, 1_795_371_088_028_177,
                ]
            ),
            (Set(WorldOptions.Extra.allCases).subtracting([.lanes, .schedule]), [1_795_385_866_078_679, 1043]),
        ] as [(Set<WorldOptions.Extra>, [UInt64])])
    func worldsInWhichAFaultWasFoundStayMended(having extras: Set<WorldOptions.Extra>, seeds: [UInt64]) {
        for seed in seeds {
            let world = World(seed: seed, options: WorldOptions(varying: seed, having: extras))
            #expect(world.run(steps: 2000) == nil, "seed \(seed)")
        }
    }

    /// Each process hashes names with a key of its own, which must not affect any decision.
    @Test func aSeedIsTheSameWorldInEveryProcess() async throws {
        let there = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { print(WorldTests.digests()) }
        let said = String(decoding: there.standardOutputContent, as: UTF8.self)
        #expect(said.contains(WorldTests.digests()))
    }

    @Test(arguments: UInt64(1)...6)
    func auditsHappenAtAnIntervalAndChangeNothing(seed: UInt64) {
        let (each, eighth) = (
            World(seed: seed, options: WorldOptions(varying: seed)),
            World(seed: seed, options: WorldOptions(varying: seed))
        )
        eighth.auditInterval = 8
        let violations = [each.run(steps: 500), eighth.run(steps: 500)]
        #expect(violations.allSatisfy { $0 == nil })
        #expect(each.digest == eighth.digest && each.counts[.pushes] == eighth.counts[.pushes])
        // Both worlds audit every pull of their calms.
        #expect(each.counts[.audits] - eighth.counts[.audits] == 500 - 500 / 8)
    }

    private static func digests() -> String {
        (UInt64(1)...60).map { seed in
            let world = World(seed: seed, options: WorldOptions(varying: seed))
            _ = world.run(steps: 500)
            return String(world.digest, radix: 16)
        }.joined(separator: " ")
    }
}
