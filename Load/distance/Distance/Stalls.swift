import FanfareModel

/// Draws which connection is held up, and for how long. Times are monotonic nanoseconds and are passed in.
struct Stalls {
    private let lengths: ClosedRange<Double>
    private let every: Int64
    private var random: SplitMix64
    private var due: Int64?

    /// - Returns: `nil` for options without stalls.
    init?(_ options: RelayOptions) {
        guard let lengths = options.stallMilliseconds else { return nil }
        self.lengths = lengths
        every = Int64(options.stallEveryMilliseconds * 1_000_000)
        random = SplitMix64(seed: options.seed ^ 0x7374_616c_6c73)
    }

    /// Returns the connection whose stall begins now and the moment of the stall's end; `nil` most of the time. The first stall comes one
    /// period after the first call.
    mutating func draw(at now: Int64, of connections: Int) -> (connection: Int, until: Int64)? {
        guard let due else {
            due = now + every
            return nil
        }
        guard now >= due, connections > 0 else { return nil }
        self.due = max(due + every, now)
        let length = Double.random(in: lengths, using: &random)
        return (Int.random(in: 0..<connections, using: &random), now + Int64(length * 1_000_000))
    }
}
