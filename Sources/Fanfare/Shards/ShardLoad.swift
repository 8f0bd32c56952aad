package import FanfareFanOut
import FanfareLoop
import FanfareModel

/// Activities that the shards of a core have before they start, each on its own thread: those of a load tool or a benchmark.
package protocol InitialActivities: Sendable {
    /// Returns the number of activities that the shard at a place is to have room for.
    func room(at place: ShardPlace) -> Int

    /// Passes on the commands that bring the shard at a place its activities.
    func read(at place: ShardPlace, _ take: (ShardCommand) -> Void)
}

/// The activities that a shard loads on its thread before its first turn, with their place and their number.
struct ShardLoad: Sendable {
    let place: ShardPlace
    /// Is `true` if the thread stays on one processor.
    let isPinned: Bool
    /// The shard's share of the cards that are expected; 0 if their number is unknown.
    let share: Int
    let activities: (any InitialActivities)?
    /// Cards that the core's thread passes on.
    let queue: LoadingQueue
    /// Is `true` if the shard takes those cards while it serves.
    let isLater: Bool

    /// Passes everything on, and closes the queue unless the shard takes from it later.
    ///
    /// - Throws: if the thread cannot be pinned, or the engine cannot be created.
    func run(
        reserve: (_ activities: Int, _ idSize: ByteCount) -> Void, apply: (ShardCommand) -> Void
    ) throws {
        defer { if !isLater { queue.close() } }
        if isPinned { try LoopThread.pinToProcessor(place.index) }
        // Room for a sixteenth more than the shard's share, with ids like UUIDs: a table of slots that has its room splits no
        // segments while cards come, and room of columns that is not used takes no memory.
        if share > 0 { reserve(share + share / 16 + 16, .bytes(36)) }
        if let activities {
            reserve(activities.room(at: place), .zero)
            activities.read(at: place, apply)
        }
        if isLater { return }
        while let commands = queue.take() {
            for command in commands { apply(command) }
        }
        if queue.isAbandoned { throw LoadingQueue.Abandoned() }
    }
}
