import FanfareFanOut
import FanfareQueues

/// Commands on their way from the ring to the shard. They wait here instead of in the ring, so that newer versions overtake older ones. Confined to
/// the shard's thread.
struct CommandIntake: ~Copyable {
    private var ring: RingConsumer<ShardCommand>
    /// Number of commands that the ring holds.
    private let ringMax: Int
    private var queue = CommandQueue()
    /// Batches that this turn may still take.
    private var batches = 0
    /// Commands taken since the core was last woken.
    private var taken = 0

    /// Commands taken from the ring at a time. Their feedback may exceed a ring that is full already.
    static let batchMax = 64
    /// Commands that wait here. If there are fewer topics than that, a full ring soon shrinks to the newest version of each.
    private static let queuedMax = 4096
    /// Batches taken from the ring per turn: twice its capacity.
    private static let batchesMax = 2 * ShardRings.commandsMax / batchMax

    init(_ rings: ShardRings) {
        ring = rings.commands.takeConsumer()
        ringMax = rings.commandsMax
    }

    var isRingEmpty: Bool { ring.isEmpty }
    /// Is `true` if this turn takes no more from the ring.
    var isTurnOver: Bool { batches == 0 }

    mutating func beginTurn() { batches = CommandIntake.batchesMax }

    /// Takes commands from the ring while there is room here.
    ///
    /// - Parameters:
    ///   - mayGoOn: is asked before each batch.
    ///   - overtaken: receives the serial of each publication that a newer one replaces.
    ///   - wakeCore: wakes the core, which has found the ring full and waits for room.
    mutating func takeIn(while mayGoOn: () -> Bool, overtaken: (UInt64) -> Void, _ wakeCore: () -> Void) {
        while batches > 0, queue.count < CommandIntake.queuedMax, mayGoOn() {
            batches -= 1
            let count = ring.drain(limit: CommandIntake.batchMax) { command in
                queue.append(command) { overtaken($0) }
            }
            taken += count
            // The wake-up comes for a core that has found the ring full, because at least half of the ring's commands are still to be taken then.
            if taken >= ringMax / 2 {
                taken = 0
                wakeCore()
            }
            guard count == CommandIntake.batchMax else { return }
        }
    }

    mutating func popFirst() -> ShardCommand? { queue.popFirst() }
}
