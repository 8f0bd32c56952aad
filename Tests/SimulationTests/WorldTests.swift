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
}
