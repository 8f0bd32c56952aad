/// Rate limit that allows `burst` uses at once and one more every `refill` after that. The bucket computes with integers in log time, so every replay
/// of a log decides alike.
///
/// A bucket is a rate limit in milliseconds. Its serial form has the credit, which is stored as time: a full bucket holds `burst` × `refill`
/// milliseconds, and a token costs `refill` of them.
public struct TokenBucket: Sendable, Hashable {
    /// Capacity and refill time of a bucket.
    public struct Size: Sendable, Hashable {
        /// Tokens in a full bucket, 1…1000.
        public let burst: Int
        /// Time in which one token is refilled, 1 ms…24 h.
        public let refill: Duration

        /// Creates a size with both values clamped to their ranges, so that `burst` × `refill` (at most 8.64 × 10¹⁰ ms) never overflows.
        public init(burst: Int, refill: Duration) {
            self.burst = min(max(burst, 1), 1000)
            self.refill = min(max(refill, .milliseconds(1)), .seconds(86_400))
        }
    }

    package private(set) var size: Size
    /// Milliseconds from `updatedAt` until the bucket is full.
    private var debt: Int64
    private var updatedAt: FeedTime

    /// Creates a full bucket.
    package init(_ size: Size, at now: FeedTime) {
        self.size = size
        debt = 0
        updatedAt = now
    }

    /// Debt of the bucket, which with its size is all that there is to know of it: for tables of very many buckets. The credit would cost
    /// a division.
    package var storedDebt: (debtMilliseconds: Int64, updatedAt: FeedTime) { (debt, updatedAt) }

    /// Creates a bucket with that debt.
    package init(_ size: Size, debt: (debtMilliseconds: Int64, updatedAt: FeedTime)) {
        self.size = size
        (self.debt, updatedAt) = debt
    }

    /// Credit of the bucket, for its serial form.
    package var credit: (creditMilliseconds: Int64, updatedAt: FeedTime) { (size.limit.capacity - debt, updatedAt) }

    /// Creates a bucket with that credit.
    package init(_ size: Size, _ credit: (creditMilliseconds: Int64, updatedAt: FeedTime)) {
        self.size = size
        debt = size.limit.capacity - credit.creditMilliseconds
        updatedAt = credit.updatedAt
    }

    /// Takes a token if there is one. A `now` earlier than the last one counts as the last one.
    package mutating func take(at now: FeedTime) -> Bool {
        fill(to: now)
        let limit = size.limit
        guard limit.allowsUse(at: debt) else { return false }
        debt = limit.charged(debt)
        return true
    }

    /// Returns the time until the next token; zero while one is available.
    package func wait(at now: FeedTime) -> Duration { .milliseconds(size.limit.wait(at: debt(at: now))) }

    package func tokens(at now: FeedTime) -> Int { Int(size.limit.uses(at: debt(at: now))) }

    /// Gives the bucket another size. It keeps its whole tokens, as far as there is room.
    package mutating func resize(_ size: Size, at now: FeedTime) {
        guard size != self.size else { return }
        let tokens = min(tokens(at: now), size.burst)
        self = TokenBucket(size, (Int64(tokens) * size.refill.milliseconds, max(now, updatedAt)))
    }

    private mutating func fill(to now: FeedTime) {
        guard now > updatedAt else { return }
        debt = debt(at: now)
        updatedAt = now
    }

    private func debt(at now: FeedTime) -> Int64 {
        now > updatedAt ? RateLimit.rest(of: debt, after: (now - updatedAt).milliseconds) : debt
    }
}

extension TokenBucket.Size {
    fileprivate var limit: RateLimit<Int64> { RateLimit(burst: Int64(burst), period: refill.milliseconds) }
}

extension SerialWriter {
    package mutating func write(_ bucket: TokenBucket) {
        write(UInt64(bucket.size.burst))
        write(signed: bucket.size.refill.milliseconds)
        write(signed: bucket.credit.creditMilliseconds)
        write(bucket.credit.updatedAt)
    }
}

extension SerialReader {
    package mutating func bucket() throws(SerialError) -> TokenBucket {
        let size = TokenBucket.Size(
            burst: Int(clamping: try unsigned()), refill: .milliseconds(try signed()))
        let credit = try signed()
        let updatedAt = try time()
        guard updatedAt.milliseconds.magnitude < 1 << 60, 0...Int64(size.burst) * size.refill.milliseconds ~= credit
        else { throw .malformed("bucket") }
        return TokenBucket(size, (credit, updatedAt))
    }
}
