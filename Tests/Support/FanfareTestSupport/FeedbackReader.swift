package import FanfareFanOut
import FanfareQueues

/// The core's end of a shard's feedback: a ring between the shard and whoever reads what it reports, in one thread.
package final class FeedbackReader {
    private let shard: Shard
    private var producer: RingProducer<ShardFeedback>
    private var consumer: RingConsumer<ShardFeedback>
    private static let capacity = 1024

    package init(of shard: Shard) {
        self.shard = shard
        let ring = OneToOneRing<ShardFeedback>(capacity: FeedbackReader.capacity)
        producer = ring.takeProducer()
        consumer = ring.takeConsumer()
    }

    /// Reads all that the shard has reported since the last call, the oldest first.
    package func drain(_ take: (ShardFeedback) -> Void) {
        while shard.sendFeedback(to: &producer) {
            _ = consumer.drain(limit: FeedbackReader.capacity) { take($0) }
        }
    }

    /// Returns all that the shard has reported since the last call, the oldest first.
    package func readAll() -> [ShardFeedback] {
        var facts: [ShardFeedback] = []
        drain { facts.append($0) }
        return facts
    }

    /// Reads all that the shard has reported since the last call, and keeps nothing of it but the newest request for claims.
    ///
    /// - Returns: the ticket of the newest request for claims; `nil` if there was none.
    package func takeTicket() -> UInt64? {
        var ticket: UInt64?
        drain { if case .claims(let request) = $0 { ticket = request.ticket } }
        return ticket
    }
}
