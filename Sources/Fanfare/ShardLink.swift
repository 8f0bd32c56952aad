import FanfareFanOut
import FanfareModel
import Synchronization

/// What lies between the core and one shard. Each side takes its ends: `ShardLink` the core's, `ShardTurn` the shard's.
final class ShardRings: Sendable {
    /// Commands on their way to a shard. A follow is the most frequent one; 65,536 of them are some 10 MB.
    static let commandsMax = 1 << 16
    /// Facts on their way to the core: completions and dead tokens, a few bytes each.
    static let feedbackMax = 1 << 14

    let commands: OneToOneRing<ShardCommand>
    let feedback: OneToOneRing<ShardFeedback>
    let commandsMax: Int
    let feedbackMax: Int
    // Beside the ring, because the ring may be full and its reader held up. Milliseconds; `.max`: the transport's own time. Written before
    // the flag.
    private let timeout = Atomic<Int64>(.max)
    private let isToStop = Atomic<Bool>(false)
    /// The shard has looked at the ring for the last time before it sleeps: whoever has put something into it since wakes it.
    private let isAsleep = Atomic<Bool>(true)

    /// Others than these capacities, powers of two, are for simulations.
    init(commandsMax: Int = ShardRings.commandsMax, feedbackMax: Int = ShardRings.feedbackMax) {
        self.commandsMax = commandsMax
        self.feedbackMax = feedbackMax
        commands = OneToOneRing(capacity: commandsMax)
        feedback = OneToOneRing(capacity: feedbackMax)
    }

    /// From the core's thread, when something has been put into the ring.
    ///
    /// - Returns: whether the shard has to be woken; an awake one looks into the ring before it sleeps.
    func rouse() -> Bool {
        // A read-modify-write on both sides: whichever is the second sees what the other one did before its own.
        isAsleep.exchange(false, ordering: .sequentiallyConsistent)
    }

    /// From the shard's thread: it looks into the ring after this, and sleeps if there is nothing.
    func lieDown() { _ = isAsleep.exchange(true, ordering: .sequentiallyConsistent) }

    /// From the shard's thread: it is at work. Relaxed, for it looks into the ring in any case before it sleeps.
    func getUp() { isAsleep.store(false, ordering: .relaxed) }

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
    /// Has the shard take a turn, soon.
    private let wake: () -> Void
    /// What found the ring full, but for `next`. While more than `waitingMax` wait here the core takes no new events, so this holds at
    /// most that and what the timers of one turn publish: bounded by topics, not by lag.
    private var backlog = CommandQueue()
    /// The first of them, for which there was no room when it was its turn.
    private var next: ShardCommand?
    /// A question waits in the backlog. What is asked meanwhile is asked when that one has left, and only the newest, for which an answer
    /// stands for all before it: each keeps versions behind it from overtaking those before it.
    private var hasQuestion = false
    private var asked: UInt64?
    /// Commands that may wait here without holding anybody back.
    var waitingMax = 0
    /// Where another app's events would have to wait: four rings of commands, some 40 MB. A shard that takes nothing is minutes behind
    /// then, in alerts and commands, for of states only the newest wait.
    static let waitingBesideOthersMax = 4 * ShardRings.commandsMax
    /// Told the serial of a publication that is left out, because a newer one waits behind it.
    var onOvertaken: ((UInt64) -> Void)?
    /// Facts taken from the ring since the shard was last woken.
    private var heard = 0
    /// Commands put into the ring of which the shard has not been told.
    private var unrung = 0
    /// With so many of them it is told before the core's turn is over, so that both are at work.
    static let unrungMax = 64

    init(_ rings: ShardRings, wake: @escaping () -> Void) {
        self.rings = rings
        commands = rings.commands.takeProducer()
        feedback = rings.feedback.takeConsumer()
        self.wake = wake
    }

    /// Commands that the ring had no room for.
    var waiting: Int { backlog.count + (next == nil ? 0 : 1) }
    /// Full: no new event may be taken in until this is false again.
    var isCongested: Bool { waiting > waitingMax }

    /// The shard hears of it with the next `ring`, or when some have been sent.
    func send(_ command: ShardCommand) {
        if next != nil {
            appendToBacklog(command)
        } else if !commands.tryPush(command) {
            next = command
        }
        unrung += 1
        if unrung >= ShardLink.unrungMax { ring() }
    }

    /// Has the shard take what was sent; once per turn of the core. While the shard is awake it costs an atomic exchange.
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
        backlog.append(command) { onOvertaken?($0) }
    }

    private func takeFromBacklog() -> ShardCommand? {
        let command = backlog.popFirst()
        guard case .reportQuiet? = command else { return command }
        hasQuestion = false
        if let question = asked.take() { appendToBacklog(.reportQuiet(question)) }
        return command
    }

    /// Moves what waited for room. The shard has the core woken when there is some.
    func flush() {
        // A shard that found its ring full waits to be told of room.
        if heard >= rings.feedbackMax / 2 {
            heard = 0
            wake()
        }
        guard let first = next else { return }
        guard commands.tryPush(first) else { return wake() }
        repeat { next = takeFromBacklog() } while next.map { commands.tryPush($0) } ?? false
        wake()
    }

    /// Hands over what the shard has told; once per turn of the core.
    func hear(_ take: (ShardFeedback) -> Void) { heard += feedback.drain(limit: rings.feedbackMax, take) }

    /// The shard waits for the answers that are out, and closes. Commands that still wait are not carried out, and nothing more is
    /// pulled: who wants them done asks for a `quiet` first.
    ///
    /// - Parameter timeout: after that it ends with whatever is still out. `nil`: the transport's own.
    func stop(within timeout: Duration?) {
        rings.stop(within: timeout)
        wake()
    }
}
