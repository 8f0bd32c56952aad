import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct FeedbackQueueTests {
    private func serials(_ facts: [ShardFeedback]) -> [UInt64] {
        facts.compactMap { fact in
            if case .overtaken(let serial) = fact { serial } else { nil }
        }
    }

    @Test func factsLeaveInTheirOrderAsFarAsTheRingHasRoom() {
        let ring = OneToOneRing<ShardFeedback>(capacity: 4)
        var producer = ring.takeProducer()
        var consumer = ring.takeConsumer()
        var queue = FeedbackQueue(limit: 100)
        for serial in UInt64(1)...6 { queue.append(.overtaken(serial: serial)) }
        var received: [ShardFeedback] = []
        var rounds = 0
        while queue.drain(into: &producer) {
            rounds += 1
            while let fact = consumer.pop() { received.append(fact) }
        }
        #expect(serials(received) == Array(1...6))
        #expect(rounds == 2)
        #expect(queue.takeAll().isEmpty)
    }

    @Test func factsThatFindNoRoomStay() {
        let ring = OneToOneRing<ShardFeedback>(capacity: 2)
        var producer = ring.takeProducer()
        var queue = FeedbackQueue(limit: 100)
        for serial in UInt64(1)...5 { queue.append(.overtaken(serial: serial)) }
        let first = queue.drain(into: &producer)
        let second = queue.drain(into: &producer)
        #expect(first && !second)
        #expect(serials(queue.takeAll()) == [3, 4, 5])
        #expect(queue.takeAll().isEmpty)
    }

    @Test func factsAreDrainedOnceInTheirOrder() {
        var queue = FeedbackQueue(limit: 2)
        for serial in UInt64(1)...3 { queue.append(.overtaken(serial: serial)) }
        var received: [ShardFeedback] = []
        queue.drain { received.append($0) }
        #expect(serials(received) == [1, 2, 3])
        #expect(!queue.isFull)
        queue.append(.overtaken(serial: 4))
        queue.drain { received.append($0) }
        #expect(serials(received) == [1, 2, 3, 4])
    }

    @Test func queueIsFullFromItsLimitOnAndTakesMoreAllTheSame() {
        var queue = FeedbackQueue(limit: 2)
        queue.append(.ready)
        #expect(!queue.isFull)
        queue.append(.ready)
        #expect(queue.isFull)
        queue.append(.ready)
        #expect(queue.isFull)
        #expect(queue.takeAll().count == 3)
        #expect(!queue.isFull)
    }

    @Test func publicationWithTwoEndsIsAViolation() {
        var queue = FeedbackQueue(limit: 2)
        queue.append(.completed(serial: 1, at: nil))
        queue.append(.overtaken(serial: 2))
        #expect(queue.violation() == nil)
        queue.append(.overtaken(serial: 1))
        #expect(queue.violation() != nil)
    }

    @Test func questionWithTwoAnswersIsAViolation() {
        var queue = FeedbackQueue(limit: 2)
        queue.append(.disposition(1, .noActivity))
        queue.append(.completed(serial: 1, at: nil))
        #expect(queue.violation() == nil)
        queue.append(.disposition(1, .planned))
        #expect(queue.violation() != nil)
    }
}
