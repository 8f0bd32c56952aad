import FanfareQueues
import Foundation
import Synchronization
import Testing

@Suite struct RingTests {
    /// The ring agrees with an array for all small capacities, starting positions and counts.
    @Test(arguments: [1, 2, 4, 8]) func ringBehavesLikeAQueue(capacity: Int) {
        for start in 0..<capacity * 2 {
            for count in 0...capacity {
                let ring = OneToOneRing<Int>(capacity: capacity)
                var producer = ring.takeProducer()
                var consumer = ring.takeConsumer()
                for value in 0..<start {
                    let pushed = producer.tryPush(value)
                    let popped = consumer.pop()
                    #expect(pushed && popped == value)
                }
                for value in 0..<count {
                    let pushed = producer.tryPush(value)
                    #expect(pushed)
                }
                let counts = (producer.count, consumer.count)
                #expect(counts == (count, count))
                if count == capacity {
                    let pushed = producer.tryPush(-1)
                    #expect(!pushed, "full is an answer")
                }
                for value in 0..<count {
                    let popped = consumer.pop()
                    #expect(popped == value)
                }
                let empty = consumer.pop()
                #expect(empty == nil)
            }
        }
    }

    /// Batches agree with an array: elements that do not fit stay with the caller, and a batch may wrap around.
    @Test(arguments: [1, 2, 4, 8]) func ringMovesBatches(capacity: Int) {
        for start in 0..<capacity * 2 {
            for count in 0...capacity + 2 {
                for limit in 0...capacity + 1 {
                    let ring = OneToOneRing<Int>(capacity: capacity)
                    var producer = ring.takeProducer()
                    var consumer = ring.takeConsumer()
                    for value in 0..<start {
                        _ = producer.tryPush(value)
                        _ = consumer.pop()
                    }
                    let values = Array(0..<count)
                    let pushed = producer.push(values.span)
                    #expect(pushed == min(count, capacity))
                    var drained: [Int] = []
                    let first = consumer.drain(limit: limit) { drained.append($0) }
                    #expect(first == min(pushed, limit))
                    let again = producer.push(values.span)
                    #expect(again == min(count, capacity - pushed + first))
                    let rest = consumer.drain(limit: 2 * capacity) { drained.append($0) }
                    #expect(rest == pushed - first + again)
                    #expect(drained == Array(values.prefix(pushed) + values.prefix(again)))
                }
            }
        }
    }

    @Test func ringReleasesWhatABatchMoves() async {
        await confirmation(expectedCount: 3) { released in
            let ring = OneToOneRing<Counted>(capacity: 4)
            var producer = ring.takeProducer()
            var consumer = ring.takeConsumer()
            var elements = (0..<3).map { _ in Counted { released() } }
            let pushed = producer.push(elements.span)
            #expect(pushed == 3)
            elements = []
            let drained = consumer.drain(limit: 2) { _ in }
            #expect(drained == 2)
        }
    }

    final class Counted: Sendable {
        let onRelease: @Sendable () -> Void
        init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }
        deinit { onRelease() }
    }

    @Test func ringReleasesWhatIsLeftInside() async {
        await confirmation(expectedCount: 2) { released in
            let ring = OneToOneRing<Counted>(capacity: 4)
            var producer = ring.takeProducer()
            _ = producer.tryPush(Counted { released() })
            _ = producer.tryPush(Counted { released() })
        }
    }

    /// Number of elements that two threads exchange. Each hand-over by a small ring is a switch of threads, which the thread sanitizer makes slow.
    private static func exchanged(_ capacity: Int) -> Int { capacity < 64 ? 10_000 : 100_000 }

    /// Two threads exchange elements, each of which is checked. The thread sanitizer runs this test, too.
    @Test(arguments: [1, 8, 1024]) func ringKeepsOrderAcrossThreads(capacity: Int) {
        let count = RingTests.exchanged(capacity)
        let ring = OneToOneRing<Int>(capacity: capacity)
        let thread = Thread {
            var producer = ring.takeProducer()
            for value in 0..<count { while !producer.tryPush(value) { sched_yield() } }
        }
        thread.start()
        var consumer = ring.takeConsumer()
        var expected = 0
        while expected < count {
            guard let value = consumer.pop() else {
                sched_yield()
                continue
            }
            if value != expected {
                Issue.record("got \(value) where \(expected) was due")
                return
            }
            expected += 1
        }
    }
}

extension RingTests {
    /// Both sides use batches of all sizes, and each element is checked.
    @Test(arguments: [1, 8, 1024]) func ringKeepsOrderOfBatchesAcrossThreads(capacity: Int) {
        let count = RingTests.exchanged(capacity)
        let ring = OneToOneRing<Int>(capacity: capacity)
        Thread {
            var producer = ring.takeProducer()
            var next = 0
            while next < count {
                let batch = Array(next..<min(count, next + 1 + next % 13))
                let pushed = producer.push(batch.span)
                if pushed == 0 { sched_yield() }
                next += pushed
            }
        }.start()
        var consumer = ring.takeConsumer()
        var expected = 0
        var wrong: (got: Int, due: Int)?
        while expected < count, wrong == nil {
            let drained = consumer.drain(limit: 1 + expected % 17) { value in
                if value != expected { wrong = (value, expected) }
                expected += 1
            }
            if drained == 0 { sched_yield() }
        }
        #expect(wrong == nil)
    }
}

@Suite struct MailboxTests {
    @Test(arguments: [2, 4, 8]) func mailboxBehavesLikeAQueue(capacity: Int) {
        let mailbox = ManyToOneMailbox<Int>(capacity: capacity)
        for lap in 0..<5 {
            for value in 0..<capacity { #expect(mailbox.tryPush(lap * 100 + value)) }
            #expect(!mailbox.tryPush(-1), "full is an answer")
            for value in 0..<capacity { #expect(mailbox.pop() == lap * 100 + value) }
            #expect(mailbox.pop() == nil)
        }
    }

    @Test func mailboxReleasesWhatIsLeftInside() async {
        await confirmation(expectedCount: 2) { released in
            let mailbox = ManyToOneMailbox<RingTests.Counted>(capacity: 4)
            #expect(mailbox.tryPush(RingTests.Counted { released() }))
            #expect(mailbox.tryPush(RingTests.Counted { released() }))
        }
    }

    @Test func aClosedMailboxTakesNothingAndGivesWhatItHas() {
        let mailbox = ManyToOneMailbox<Int>(capacity: 4)
        for value in 0..<6 {
            #expect(mailbox.tryPush(value))
            if value < 3 { #expect(mailbox.pop() == value) }
        }
        #expect(!mailbox.isClosed && !mailbox.isExhausted)
        mailbox.close()
        mailbox.close()
        #expect(!mailbox.tryPush(-1))
        #expect(mailbox.isClosed && !mailbox.isExhausted)
        for value in 3..<6 { #expect(mailbox.pop() == value) }
        #expect(mailbox.pop() == nil)
        #expect(mailbox.isExhausted)
        #expect(!mailbox.tryPush(-1), "there is room, but it is closed")
    }

    /// The mailbox is closed while three producers push: exactly the elements reported as taken arrive.
    @Test(arguments: 0..<20) func closingLosesNothingThatWasTaken(round: Int) {
        let mailbox = ManyToOneMailbox<Int>(capacity: 8)
        let taken = Atomic(0)
        let ended = DispatchSemaphore(value: 0)
        for _ in 0..<3 {
            Thread {
                while !mailbox.isClosed { if mailbox.tryPush(1) { taken.add(1, ordering: .relaxed) } }
                ended.signal()
            }.start()
        }
        var popped = 0
        while !mailbox.isExhausted {
            guard mailbox.pop() != nil else {
                sched_yield()
                continue
            }
            popped += 1
            if popped == 1000 { mailbox.close() }
        }
        for _ in 0..<3 { ended.wait() }
        #expect(popped == taken.load(ordering: .relaxed))
        #expect(mailbox.pop() == nil)
    }

    /// All elements of three producers arrive, each producer's in order.
    @Test(arguments: [2, 64]) func mailboxLosesNothingFromManyThreads(capacity: Int) {
        let producers = 3
        let each = 50_000
        let mailbox = ManyToOneMailbox<(producer: Int, value: Int)>(capacity: capacity)
        for producer in 0..<producers {
            Thread {
                for value in 0..<each { while !mailbox.tryPush((producer, value)) { sched_yield() } }
            }.start()
        }
        var next = Array(repeating: 0, count: producers)
        while next.reduce(0, +) < producers * each {
            guard let (producer, value) = mailbox.pop() else {
                sched_yield()
                continue
            }
            if value != next[producer] {
                Issue.record("producer \(producer): got \(value) where \(next[producer]) was due")
                return
            }
            next[producer] += 1
        }
        #expect(mailbox.pop() == nil)
    }
}
