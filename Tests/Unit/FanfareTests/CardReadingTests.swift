import Fanfare
import FanfareFanOut
import Testing

@testable import CrashSimulation

/// Cards of a store on their way to the shards of a life that may die at any step.
@Suite struct CardReadingTests {
    @Test func eachShardGetsOneBatchAtATimeUntilNothingIsLeft() {
        var reading = CardReading(shards: 2)
        var commands: [ShardCommand] = [.confirmDeadTokens]
        reading.unread[0].put(&commands)
        for queue in reading.unread { queue.finish() }
        let (first, second) = (reading.readOne(), reading.readOne())
        #expect(first && !second)
    }
}
