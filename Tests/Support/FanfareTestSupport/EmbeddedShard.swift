package import FanfareFanOut
package import FanfareModel

/// A shard without loop and network: time passes, pushes leave, and answers and feedback arrive when the test says so, in one thread.
///
/// ```swift
/// let shard = EmbeddedShard()
/// shard.apply(.follow(ActivityID(1), .topic(TopicID("match")), token: [1]))
/// shard.publish(.test(shard.nextSerial()))
/// #expect(shard.settle().count == 1)
/// ```
///
/// Tests add words of their own in extensions.
package final class EmbeddedShard {
    package let shard: Shard
    /// The moment at which whatever the test says next happens.
    package var moment: Moment
    /// Pushes that have left and are not answered yet, the oldest first.
    package private(set) var flying: [Push] = []
    private var batch = DeliveryBatch()
    private var serial: UInt64 = 0

    package static let start = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1_000_000_000)

    package init(_ shard: Shard = Shard(), at moment: Moment = EmbeddedShard.start) {
        self.shard = shard
        self.moment = moment
    }

    /// A push that has left.
    package struct Push {
        package let payload: Payload
        package let token: [UInt8]
        package let slot: ActivitySlot
        package let generation: UInt32
        package var event: Payload.Event { payload.event }
        package var state: String { String(decoding: payload.state, as: UTF8.self) }

        package func answered(_ outcome: DeliveryOutcome) -> DeliveryCompletion {
            DeliveryCompletion(slot: slot, generation: generation, outcome: outcome)
        }
    }

    // MARK: Time

    package func pass(_ duration: Duration) {
        moment.monotonic += duration
        moment.wallMilliseconds += duration.milliseconds
    }

    package func pass(seconds: Int64) { pass(.seconds(seconds)) }

    // MARK: Commands

    package func apply(_ command: ShardCommand) { shard.apply(command, at: moment) }

    package func publish(_ publication: Publication) { apply(.publish(publication)) }

    /// Returns the serial of the next publication, from 1.
    package func nextSerial() -> UInt64 {
        serial += 1
        return serial
    }

    // MARK: Pushes

    /// Lets pushes leave that are due.
    @discardableResult package func pull(limit: Int = 100) -> [Push] {
        leave { shard.pull(limit: limit, at: moment, into: &$0) }
    }

    /// Lets a push leave that chance chooses among those that are due.
    @discardableResult package func pullByLot(_ random: UInt64) -> [Push] {
        leave { shard.pullByLot(random, at: moment, into: &$0) }
    }

    private func leave(_ fill: (inout DeliveryBatch) -> Void) -> [Push] {
        batch.removeAll()
        fill(&batch)
        let pushes = batch.deliveries.map {
            Push(
                payload: batch.payload(of: $0), token: Array(batch.tokens[$0.token]), slot: $0.slot,
                generation: $0.generation)
        }
        flying += pushes
        return pushes
    }

    /// Answers some of the pushes that have left.
    package func answer(_ pushes: [Push], _ outcome: DeliveryOutcome = .accepted) {
        answer(pushes, by: { _ in outcome })
    }

    /// Answers some of the pushes that have left, each in its own way.
    package func answer(_ pushes: [Push], by outcome: (Push) -> DeliveryOutcome) {
        let slots = Set(pushes.map(\.slot))
        flying.removeAll { slots.contains($0.slot) }
        let completions = pushes.map { $0.answered(outcome($0)) }
        shard.complete(completions, at: moment)
    }

    /// Answers all pushes that have left.
    package func answerAll(_ outcome: DeliveryOutcome = .accepted) { answer(flying, outcome) }

    /// Lets all pushes leave that are due, and answers each with this outcome.
    @discardableResult package func settle(_ outcome: DeliveryOutcome = .accepted) -> [Push] {
        var all: [Push] = []
        while case let pushes = pull(), !pushes.isEmpty {
            answer(pushes, outcome)
            all += pushes
        }
        return all
    }

    // MARK: Feedback

    /// Returns what the shard has reported since the last call, the oldest first.
    package func feedback() -> [ShardFeedback] {
        var facts: [ShardFeedback] = []
        shard.drainFeedback { facts.append($0) }
        return facts
    }
}
