import FanfareCore
import Synchronization

/// What lies between the core and one shard. Each side takes its ends: `ShardLink` the core's, `ShardTurn` the shard's.
final class ShardRings: Sendable {
    /// Commands on their way to a shard. A follow is the most frequent one; 65,536 of them are some 10 MB.
    static let commandsMax = 1 << 16
    /// Facts on their way to the core: completions and dead tokens, a few bytes each.
    static let feedbackMax = 1 << 14

    let commands = OneToOneRing<ShardCommand>(capacity: ShardRings.commandsMax)
    let feedback = OneToOneRing<ShardFeedback>(capacity: ShardRings.feedbackMax)
    // Beside the ring, because the ring may be full and its reader held up. Milliseconds; `.max`: the transport's own time. Written before
    // the flag.
    private let timeout = Atomic<Int64>(.max)
    private let isToStop = Atomic<Bool>(false)

    /// From the core's thread.
    func stop(within timeout: Duration?) {
        self.timeout.store(timeout.map { max(0, $0.milliseconds) } ?? .max, ordering: .relaxed)
        // Meets the acquire in `stopRequest`.
        isToStop.store(true, ordering: .releasing)
    }

    /// From the shard's thread: whether it is to stop, and within what time.
    var stopRequest: (isMade: Bool, timeout: Duration?) {
        guard isToStop.load(ordering: .acquiring) else { return (false, nil) }
        let timeout = timeout.load(ordering: .relaxed)
        return (true, timeout == .max ? nil : .milliseconds(timeout))
    }
}

/// A shard as the core holds it: the sending end of one ring, the receiving end of another. Confined to the core's thread; on which
/// thread the shard is, or whether on the same, it does not know.
final class ShardLink {
    private let rings: ShardRings
    private var commands: RingProducer<ShardCommand>
    private var feedback: RingConsumer<ShardFeedback>
    /// Has the shard take its commands, soon.
    private let wake: () -> Void
    /// What found the ring full. While anything waits here the core takes no new events, so this holds at most what the timers of
    /// one turn publish: bounded by topics, not by lag.
    private var backlog: [ShardCommand] = []
    /// Facts taken from the ring since the shard was last woken.
    private var heard = 0

    init(_ rings: ShardRings, wake: @escaping () -> Void) {
        self.rings = rings
        commands = rings.commands.takeProducer()
        feedback = rings.feedback.takeConsumer()
        self.wake = wake
    }

    /// Full somewhere: no new event may be taken in until this is false again.
    var isCongested: Bool { !backlog.isEmpty }

    func send(_ command: ShardCommand) {
        if !backlog.isEmpty || !commands.tryPush(command) { backlog.append(command) }
        wake()
    }

    /// Moves what waited for room. The shard has the core woken when there is some.
    func flush() {
        // A shard that found its ring full waits to be told of room.
        if heard >= ShardRings.feedbackMax / 2 {
            heard = 0
            wake()
        }
        guard !backlog.isEmpty else { return }
        backlog.removeFirst(commands.push(backlog.span))
        wake()
    }

    /// Hands over what the shard has told; once per turn of the core.
    func hear(_ take: (ShardFeedback) -> Void) { heard += feedback.drain(limit: ShardRings.feedbackMax, take) }

    /// The shard waits for the answers that are out, and closes. Commands that still wait are not carried out, and nothing more is
    /// pulled: who wants them done asks for a `quiet` first.
    ///
    /// - Parameter timeout: after that it ends with whatever is still out. `nil`: the transport's own.
    func stop(within timeout: Duration?) {
        rings.stop(within: timeout)
        wake()
    }
}
