import CFanfareBench
import FanfareFanOut
import FanfareQueues

/// The loops over Fanfare's queues, equal line for line to those over the peers in peers.cpp.
enum QueueRaces {
    static let ringCapacity = 1 << 14
    static let batch = 64

    static func register(items: Int) {
        for bytes in [8, 64] {
            for (processors, place) in [(2, "two-cores"), (1, "one-core")] {
                for batch in [1, QueueRaces.batch] {
                    let work = work(items: items, producers: 1, bytes: bytes, batch: batch, processors: processors)
                    let name = "ring/\(place)/\(bytes)B/\(batch == 1 ? "single" : "batch\(batch)")"
                    let sum = expectedSum(work)
                    Benchmark.register("\(name)/fanfare", checksum: sum) {
                        bytes == 8 ? raceRing(work, UInt64.self) : raceRing(work, CacheLine.self)
                    }
                    bench_register_boost_spsc("\(name)/boost-spsc", work, sum)
                    if batch == 1 { bench_register_reader_writer_queue("\(name)/reader-writer-queue", work, sum) }
                    bench_register_concurrent_queue("\(name)/concurrent-queue", work, sum)
                }
            }
        }
        for producers in [1, 2, 4] {
            for bytes in [8, 64] {
                // Every producer sends the same number of items.
                let work = work(items: items / 8 * 4, producers: producers, bytes: bytes, batch: 1, processors: 2)
                let name = "mailbox/\(producers)P/\(bytes)B"
                let sum = expectedSum(work)
                Benchmark.register("\(name)/fanfare", checksum: sum) {
                    bytes == 8 ? raceMailbox(work, UInt64.self) : raceMailbox(work, CacheLine.self)
                }
                bench_register_concurrent_queue("\(name)/concurrent-queue", work, sum)
            }
        }
    }

    private static func work(
        items: Int, producers: Int, bytes: Int, batch: Int, processors: Int
    ) -> bench_queue_work {
        bench_queue_work(
            items: Int64(items), capacity: Int64(ringCapacity), producers: Int32(producers), item_bytes: Int32(bytes),
            batch: Int32(batch), processors: Int32(processors))
    }

    /// Checksum of the items 0, 1, 2, …: item i holds the numbers i, i + 1, …, one per word.
    private static func expectedSum(_ work: bench_queue_work) -> UInt64 {
        let items = UInt64(work.items)
        let words = UInt64(work.item_bytes / 8)
        return words * (items * (items - 1) / 2) + items * (words * (words - 1) / 2)
    }
}

/// An item of a queue: numbers that count up from the first.
protocol BenchItem: BitwiseCopyable, Sendable {
    init(first: UInt64)
    var sum: UInt64 { get }
}

extension UInt64: BenchItem {
    init(first: UInt64) { self = first }
    var sum: UInt64 { self }
}

struct CacheLine: BenchItem {
    private var words: SIMD8<UInt64>

    init(first: UInt64) { words = SIMD8(repeating: first) &+ SIMD8(0, 1, 2, 3, 4, 5, 6, 7) }

    var sum: UInt64 { words.wrappedSum() }
}

private func raceRing<Item: BenchItem>(_ work: bench_queue_work, _: Item.Type) -> bench_result {
    let ring = OneToOneRing<Item>(capacity: Int(work.capacity))
    let mustYield = bench_must_yield(work)
    let items = Int(work.items)
    let batch = Int(work.batch)
    let produce: @Sendable () -> UInt64 = {
        var producer = ring.takeProducer()
        var next = 0
        if batch == 1 {
            while next < items {
                let item = Item(first: UInt64(next))
                while !producer.tryPush(item) { bench_wait(mustYield) }
                next += 1
            }
        } else {
            var buffer = [Item](repeating: Item(first: 0), count: batch)
            while next < items {
                let count = min(batch, items - next)
                var filling = buffer.mutableSpan
                for index in 0..<count { filling[index] = Item(first: UInt64(truncatingIfNeeded: next &+ index)) }
                var done = 0
                while done < count {
                    let pushed = producer.push(buffer.span.extracting(done..<count))
                    if pushed == 0 { bench_wait(mustYield) }
                    done += pushed
                }
                next += count
            }
        }
        return 0
    }
    let consume: @Sendable () -> UInt64 = {
        var consumer = ring.takeConsumer()
        var sum: UInt64 = 0
        var left = items
        if batch == 1 {
            while left > 0 {
                guard let item = consumer.pop() else {
                    bench_wait(mustYield)
                    continue
                }
                sum &+= item.sum
                left -= 1
            }
        } else {
            while left > 0 {
                let count = consumer.drain(limit: batch) { sum &+= $0.sum }
                if count == 0 { bench_wait(mustYield) }
                left -= count
            }
        }
        return sum
    }
    return Race.run(producers: [produce], consumer: consume, work)
}

private func raceMailbox<Item: BenchItem>(_ work: bench_queue_work, _: Item.Type) -> bench_result {
    let mailbox = ManyToOneMailbox<Item>(capacity: Int(work.capacity))
    let mustYield = bench_must_yield(work)
    let each = Int(work.items) / Int(work.producers)
    let producers = (0..<Int(work.producers)).map { index -> @Sendable () -> UInt64 in
        {
            for next in index * each..<(index + 1) * each {
                let item = Item(first: UInt64(next))
                while !mailbox.tryPush(item) { bench_wait(mustYield) }
            }
            return 0
        }
    }
    let consume: @Sendable () -> UInt64 = {
        var sum: UInt64 = 0
        var left = Int(work.items)
        while left > 0 {
            guard let item = mailbox.pop() else {
                bench_wait(mustYield)
                continue
            }
            sum &+= item.sum
            left -= 1
        }
        return sum
    }
    return Race.run(producers: producers, consumer: consume, work)
}
