/// Delayed answers in buckets of a millisecond: adding and taking are O(1), however many wait.
struct DelayQueue {
    struct Waiting {
        let connection: UInt32
        let stream: Int32
    }

    static let millisecondsMax = 60_000

    /// Ring with a bucket for each millisecond of the longest delay, and one for the current millisecond.
    private var buckets: [[Waiting]]
    /// Time up to which all answers have been taken.
    private var now: Int64
    private(set) var count = 0

    init(delayMax: Int, now: Int64) {
        buckets = Array(repeating: [], count: delayMax + 2)
        self.now = now
    }

    /// - Parameter delay: milliseconds from `now`, up to the longest delay.
    mutating func add(_ waiting: Waiting, delay: Int, at now: Int64) {
        if count == 0 { self.now = now }
        // `now` may be ahead of the last `take`; the ring must not wrap around.
        let due = min(max(now + Int64(delay), self.now + 1), self.now + Int64(buckets.count) - 1)
        buckets[Int(due % Int64(buckets.count))].append(waiting)
        count += 1
    }

    /// Calls `body` for every answer due by `now`, in the order of milliseconds.
    mutating func take(until now: Int64, _ body: (Waiting) -> Void) {
        while self.now < now, count > 0 {
            self.now += 1
            let bucket = Int(self.now % Int64(buckets.count))
            for waiting in buckets[bucket] { body(waiting) }
            count -= buckets[bucket].count
            buckets[bucket].removeAll(keepingCapacity: true)
        }
        self.now = max(self.now, now)
    }
}
