import FanfareFanOut
import FanfareModel
import FanfareQueues
import Synchronization

/// Rings between the core and one shard. `ShardLink` has the core's ends, `ShardTurn` the shard's.
package final class ShardRings: Sendable {
    /// Capacity of the ring of commands. The most frequent one is a follow; 65,536 of them take some 10 MB.
    package static let commandsMax = 1 << 16
    /// Capacity of the ring of feedback: completions and dead tokens, a few bytes each.
    package static let feedbackMax = 1 << 14

    let commands: OneToOneRing<ShardCommand>
    let feedback: OneToOneRing<ShardFeedback>
    let commandsMax: Int
    let feedbackMax: Int
    // Time for stopping in milliseconds; `.max` stands for the transport's own. It is separate from the ring, because the ring may be full
    // and its reader held up. Written before the flag.
    private let timeout = Atomic<Int64>(.max)
    private let isToStop = Atomic<Bool>(false)
    /// Is `true` if the shard sleeps or is about to look at the ring for the last time before it sleeps. The core wakes it after pushing.
    private let isAsleep = Atomic<Bool>(true)

    /// Creates rings; other capacities than the default ones are for simulations and must be powers of two.
    package init(commandsMax: Int = ShardRings.commandsMax, feedbackMax: Int = ShardRings.feedbackMax) {
        self.commandsMax = commandsMax
        self.feedbackMax = feedbackMax
        commands = OneToOneRing(capacity: commandsMax)
        feedback = OneToOneRing(capacity: feedbackMax)
    }

    /// Clears the sleep flag. Called by the core after pushing into the ring.
    ///
    /// - Returns: `true` if the core must wake the shard; a shard that is awake looks into the ring before it sleeps.
    func rouse() -> Bool {
        // Both sides use a read-modify-write, so the second one sees everything the other did before its own.
        isAsleep.exchange(false, ordering: .sequentiallyConsistent)
    }

    /// Sets the sleep flag. Called by the shard, which then looks into the ring and sleeps if it is empty.
    func lieDown() { _ = isAsleep.exchange(true, ordering: .sequentiallyConsistent) }

    /// Clears the sleep flag. Called by the shard when it works; relaxed, because the shard looks into the ring again before it sleeps. A
    /// read-modify-write, because a plain store would end the release sequence of the core's exchange, on which `rouse` relies.
    func getUp() { _ = isAsleep.exchange(false, ordering: .relaxed) }

    /// Requests a stop. Called by the core.
    func stop(within timeout: Duration?) {
        self.timeout.store(timeout.map { max(0, $0.milliseconds) } ?? .max, ordering: .relaxed)
        // Pairs with the acquire in `stopRequest`.
        isToStop.store(true, ordering: .releasing)
    }

    /// Stop request and its time, as the shard reads them.
    var stopRequest: (isMade: Bool, timeout: Duration?) {
        guard isToStop.load(ordering: .acquiring) else { return (false, nil) }
        let timeout = timeout.load(ordering: .relaxed)
        return (true, timeout == .max ? nil : .milliseconds(timeout))
    }
}

/// Core's link to a shard: producer of one ring, consumer of the other. Confined to the core's thread; the shard may run on any thread, even
/// the same.
package final class ShardLink {
    private let rings: ShardRings
    // Confined to one thread and never re-entered by its callees, so exclusivity checks at run time could never fail.
    @safe @exclusivity(unchecked) private var commands: RingProducer<ShardCommand>
    @safe @exclusivity(unchecked) private var feedback: RingConsumer<ShardFeedback>
    /// Makes the shard take a turn soon.
    private let wake: () -> Void
    /// Commands behind `next` that found the ring full. The core takes no new events while more than `unsentMax` commands wait, so the
    /// backlog holds at most that plus the publications of one turn's timers: it is bounded by topics, not by lag.
    private var backlog = CommandQueue()
    /// First command that found the ring full.
    @safe @exclusivity(unchecked) private var next: ShardCommand?
    /// Is `true` while a `reportQuiet` waits in the backlog. A later one waits outside until that has left, and a newer one replaces it,
    /// because an answer covers all questions before it. Each question in the backlog keeps versions behind it from overtaking those
    /// before it.
    private var hasQuestion = false
    private var asked: UInt64?
    /// Commands that may wait here without holding back new events.
    var unsentMax = 0
    /// `unsentMax` for several apps: four rings of commands, some 40 MB. A shard that takes nothing is then minutes behind, but only in alerts and
    /// commands: of states only the newest wait.
    static let unsentBesideOthersMax = 4 * ShardRings.commandsMax
    /// Called with the serial of a publication that is dropped because a newer one waits behind it.
    var onOvertaken: (UInt64) -> Void = { _ in }
    /// Facts taken from the ring since the shard was last woken.
    private var takenCount = 0
    /// Commands pushed since the shard was last rung.
    @safe @exclusivity(unchecked) private var unrung = 0
    /// Number of commands after which the shard is rung before the core's turn ends, so that both work at the same time.
    static let unrungMax = 64

    package init(_ rings: ShardRings, wake: @escaping () -> Void) {
        self.rings = rings
        commands = rings.commands.takeProducer()
        feedback = rings.feedback.takeConsumer()
        self.wake = wake
    }

    /// Commands that found no room in the ring.
    var unsent: Int { backlog.count + (next == nil ? 0 : 1) }
    /// Commands that the shard has not taken yet, in the ring or without room there.
    var depth: Int { commands.count + unsent }
    /// Is `true` while too many commands wait for the core to take new events.
    var isCongested: Bool { unsent > unsentMax }

    /// Sends a command. The shard learns of it with the next `ring`, or after `unrungMax` commands.
    func send(_ command: ShardCommand) {
        if next != nil {
            appendToBacklog(command)
        } else if !commands.tryPush(command) {
            next = command
        }
        unrung += 1
        if unrung >= ShardLink.unrungMax { ring() }
    }

    /// Makes the shard take the commands sent to it; once per turn of the core. It costs an atomic exchange while the shard is awake.
    func ring() {
        guard unrung > 0 else { return }
        unrung = 0
        if rings.rouse() { wake() }
    }

    private func appendToBacklog(_ command: ShardCommand) {
        if case .reportQuiet(let question) = command {
            guard !hasQuestion else { return asked = question }
            hasQuestion = true
        }
        backlog.append(command) { onOvertaken($0) }
    }

    private func takeFromBacklog() -> ShardCommand? {
        let command = backlog.popFirst()
        guard case .reportQuiet? = command else { return command }
        hasQuestion = false
        if let question = asked.take() { appendToBacklog(.reportQuiet(question)) }
        return command
    }

    /// Moves unsent commands into the ring. The shard wakes the core when the ring has room.
    func flush() {
        // A shard that found its ring full waits for this wake-up.
        if takenCount >= rings.feedbackMax / 2 {
            takenCount = 0
            wake()
        }
        guard let first = next else { return }
        guard commands.tryPush(first) else { return wake() }
        repeat { next = takeFromBacklog() } while next.map { commands.tryPush($0) } ?? false
        wake()
    }

    /// Takes the shard's feedback; once per turn of the core.
    func drainFeedback(_ take: (ShardFeedback) -> Void) { takenCount += feedback.drain(limit: rings.feedbackMax, take) }

    /// Stops the shard: it pulls nothing more, waits for pending answers and closes. Waiting commands are discarded; the caller settles first
    /// if they matter.
    ///
    /// - Parameter timeout: time after which the shard ends without the pending answers. `nil`: the transport's own.
    func stop(within timeout: Duration?) {
        rings.stop(within: timeout)
        wake()
    }
}
