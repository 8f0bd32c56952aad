/// Wait before the next attempt. Its ceiling doubles from `first` to `most`, and each wait is drawn from the ceiling's upper
/// half, so that many clients that lost their connections together do not return together.
package struct Backoff: Sendable {
    package let first: Duration
    package let most: Duration
    package private(set) var attempts = 0

    package init(first: Duration, most: Duration) {
        precondition(first > .zero && first <= most, "a wait from \(first) to \(most)")
        self.first = first
        self.most = most
    }

    /// Returns the next wait.
    package mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
        var ceiling = first
        // The ceiling never doubles past `most`, so no number of attempts overflows.
        for _ in 0..<attempts where ceiling < most { ceiling = min(ceiling * 2, most) }
        attempts += 1
        return ceiling * Double.random(in: 0.5...1, using: &random)
    }

    /// Resets the backoff after a success: the next failure waits `first` again.
    package mutating func reset() { attempts = 0 }
}
