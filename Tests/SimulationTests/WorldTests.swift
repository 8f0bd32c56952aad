import FanfareCore
import Simulation
import Testing

/// 100,000 steps in each run, the same ones; a failure names its seed, and `World(seed:)` replays it.
@Suite struct WorldTests {
    @Test(arguments: UInt64(1)...50)
    func invariantsHold(seed: UInt64) {
        var options = World.Options()
        // Worlds of every size: the smallest make the rarest meetings.
        options.activitiesMax = [1, 2, 3, 8, 24][Int(seed % 5)]
        options.topics = 1 + Int(seed % 4)
        options.shards = 1 + Int(seed % 2)
        options.window = [1, 2, 4, 16][Int(seed / 5 % 4)]
        let world = World(seed: seed, options: options)
        let violation = world.run(steps: 2000)
        #expect(violation == nil, "seed \(seed)")
        #expect(world.pushesSeen > 20, "seed \(seed) saw too little to prove anything")
    }
}
