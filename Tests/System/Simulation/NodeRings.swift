import FanfareFanOut
import FanfareQueues

/// The two rings between the core and a shard.
struct NodeRings: ~Copyable {
    var sendCommands: RingProducer<ShardCommand>
    var commands: RingConsumer<ShardCommand>
    var sendFeedback: RingProducer<ShardFeedback>
    var feedback: RingConsumer<ShardFeedback>
    /// Commands that found the ring full. The core takes no new events while any wait here.
    private(set) var backlog: [ShardCommand] = []

    init(commandsMax: Int, feedbackMax: Int) {
        let commandRing = OneToOneRing<ShardCommand>(capacity: commandsMax)
        sendCommands = commandRing.takeProducer()
        commands = commandRing.takeConsumer()
        let feedbackRing = OneToOneRing<ShardFeedback>(capacity: feedbackMax)
        sendFeedback = feedbackRing.takeProducer()
        feedback = feedbackRing.takeConsumer()
    }

    mutating func send(_ command: ShardCommand) {
        if !backlog.isEmpty || !sendCommands.tryPush(command) { backlog.append(command) }
    }

    /// - Returns: `true` if a command was sent.
    mutating func flush() -> Bool {
        var sent = 0
        while sent < backlog.count, sendCommands.tryPush(backlog[sent]) { sent += 1 }
        backlog.removeFirst(sent)
        return sent > 0
    }
}
