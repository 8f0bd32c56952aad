internal import Glibc

/// Delay of answers in milliseconds.
package enum AnswerDelay: Sendable, Equatable {
    case even(ClosedRange<Int>)
    /// Log-normal distribution: most delays are near the median, one in a hundred exceeds `p99`.
    case skewed(median: Int, p99: Int)

    package static let none = AnswerDelay.even(0...0)

    /// Upper limit of the delays.
    var most: Int {
        switch self {
        case .even(let range): range.upperBound
        case .skewed(_, let p99): min(DelayQueue.millisecondsMax, 10 * p99)
        }
    }

    /// - Parameter random: returns uniformly distributed bits.
    func draw(_ random: () -> UInt64) -> Int {
        switch self {
        case .even(let range): return range.lowerBound + Int(random() % UInt64(range.count))
        case .skewed(let median, let p99):
            // Normal deviate by Box and Muller; the 99th percentile lies 2.326 standard deviations above the median.
            let u = (Double(random() >> 11) + 1) * 0x1p-53
            let v = Double(random() >> 11) * 0x1p-53
            let normal = (-2 * log(u)).squareRoot() * cos(2 * .pi * v)
            let factor = exp(normal * log(Double(p99) / Double(median)) / 2.326)
            return min(most, Int(Double(median) * factor))
        }
    }
}
