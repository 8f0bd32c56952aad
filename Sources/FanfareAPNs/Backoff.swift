/// How long to wait before trying again: doubling from `first` to `most`, each wait drawn from its upper half, so that
/// many clients which lost their connections at the same moment do not come back at the same moment.
package struct Backoff: Sendable {
    package let first: Duration
    package let most: Duration
    package private(set) var attempts = 0

    package init(first: Duration, most: Duration) {
        precondition(first > .zero && first <= most, "a wait from \(first) to \(most)")
        self.first = first
        self.most = most
    }

    /// The next wait.
    package mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
        var ceiling = first
        // Never doubles past `most`, so that no count of attempts overflows.
        for _ in 0..<attempts where ceiling < most { ceiling = min(ceiling * 2, most) }
        attempts += 1
        return ceiling * Double.random(in: 0.5...1, using: &random)
    }

    /// It worked: the next failure starts from `first` again.
    package mutating func reset() { attempts = 0 }
}
