import FanfareCore
import Foundation
import Testing

@Suite struct RingTests {
    /// Every small capacity, every starting position, every count, against an array as the model.
    @Test(arguments: [1, 2, 4, 8]) func behavesLikeAQueue(capacity: Int) {
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

    final class Counted: Sendable {
        let onRelease: @Sendable () -> Void
        init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }
        deinit { onRelease() }
    }

    @Test func releasesWhatIsLeftInside() async {
        await confirmation(expectedCount: 2) { released in
            let ring = OneToOneRing<Counted>(capacity: 4)
            var producer = ring.takeProducer()
            _ = producer.tryPush(Counted { released() })
            _ = producer.tryPush(Counted { released() })
        }
    }

    /// Two threads, every element checked: run under the thread sanitizer too.
    @Test(arguments: [1, 8, 1024]) func keepsOrderAcrossThreads(capacity: Int) {
        let count = 200_000
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

@Suite struct MailboxTests {
    @Test(arguments: [2, 4, 8]) func behavesLikeAQueue(capacity: Int) {
        let mailbox = ManyToOneMailbox<Int>(capacity: capacity)
        for lap in 0..<5 {
            for value in 0..<capacity { #expect(mailbox.tryPush(lap * 100 + value)) }
            #expect(!mailbox.tryPush(-1), "full is an answer")
            for value in 0..<capacity { #expect(mailbox.pop() == lap * 100 + value) }
            #expect(mailbox.pop() == nil)
        }
    }

    /// Three producers; each one's elements arrive all and in its own order.
    @Test(arguments: [2, 64]) func losesNothingFromManyThreads(capacity: Int) {
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
