import Foundation

/// Ratio of a figure in B to the same figure in A, and the interval in which it lies with a confidence.
///
/// Estimate and interval rest on ranks (Hodges and Lehmann): no shape of the noise is assumed, and among twenty pairs or more a disturbed
/// run moves neither far. The interval is exact: without a difference it misses 1 with at most the probability asked for.
package struct Ratio: Sendable, Equatable {
    package let estimate: Double
    package let low: Double
    package let high: Double

    /// Most runs of a side; the exact distributions of ranks grow with their cubes.
    package static let runsMax = 100

    /// Ratio of runs that took turns, pair by pair: what slows the machine for a while slows both runs of a pair. Signed ranks.
    ///
    /// - Parameters:
    ///   - pairs: values above 0, of A and of B.
    ///   - error: probability with which the interval may miss the true ratio.
    /// - Returns: `nil` if there are too few pairs for such an interval, or more than `runsMax`.
    package init?(pairs: [(a: Double, b: Double)], error: Double) {
        guard pairs.count <= Ratio.runsMax, let skipped = Ratio.skipped(error, Ratio.signedRanks(pairs.count)) else {
            return nil
        }
        let logs = pairs.map { log($0.b / $0.a) }
        var means: [Double] = []
        for (index, first) in logs.enumerated() {
            for second in logs[index...] { means.append((first + second) / 2) }
        }
        self.init(logs: means, skipped: skipped)
    }

    /// Ratio of runs that had nothing to do with each other. A drift of the machine from one side's runs to the other's counts as a
    /// difference. Rank sums.
    package init?(a: [Double], b: [Double], error: Double) {
        guard max(a.count, b.count) <= Ratio.runsMax,
            let skipped = Ratio.skipped(error, Ratio.rankSums(a.count, b.count))
        else { return nil }
        self.init(logs: a.flatMap { first in b.map { log($0 / first) } }, skipped: skipped)
    }

    private init(logs: [Double], skipped: Int) {
        let sorted = logs.sorted()
        let middle = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
        estimate = exp(middle)
        low = exp(sorted[skipped])
        high = exp(sorted[sorted.count - 1 - skipped])
    }

    /// Fewest pairs that have an interval with this error.
    package static func pairsMin(error: Double) -> Int {
        (1...runsMax).first { skipped(error, signedRanks($0)) != nil } ?? runsMax
    }

    /// Fewest runs of each side that have an interval with this error, if they are no pairs.
    package static func runsMin(error: Double) -> Int {
        (1...runsMax).first { skipped(error, rankSums($0, $0)) != nil } ?? runsMax
    }

    /// Number of sorted values that lie outside the interval at each end; `nil` if the ends themselves are too likely.
    private static func skipped(_ error: Double, _ probabilities: [Double]) -> Int? {
        var tail = 0.0
        var count = 0
        for probability in probabilities {
            tail += probability
            guard tail <= error / 2 else { break }
            count += 1
        }
        return count > 0 ? count - 1 : nil
    }

    /// Probability of each sum of the ranks of positive differences, when positive and negative ones are equally likely.
    private static func signedRanks(_ count: Int) -> [Double] {
        guard count > 0 else { return [] }
        var probabilities = [Double](repeating: 0, count: count * (count + 1) / 2 + 1)
        probabilities[0] = 1
        for rank in 1...count {
            for sum in stride(from: rank * (rank + 1) / 2, through: 0, by: -1) {
                let others = sum >= rank ? probabilities[sum - rank] : 0
                probabilities[sum] = (probabilities[sum] + others) / 2
            }
        }
        return probabilities
    }

    /// Probability of each number of pairs in which B is below A, when every order of all values is equally likely.
    private static func rankSums(_ a: Int, _ b: Int) -> [Double] {
        guard a > 0, b > 0 else { return [] }
        // `rows[j]` belongs to `i` values of A and `j` of B: the greatest value is one of A's, which is above all of B's, or one of B's.
        var rows = [[Double]](repeating: [1], count: b + 1)
        for i in 1...a {
            var next: [[Double]] = [[1]]
            for j in 1...b {
                var row = [Double](repeating: 0, count: i * j + 1)
                let (ofA, ofB) = (Double(i) / Double(i + j), Double(j) / Double(i + j))
                for (sum, probability) in rows[j].enumerated() { row[sum + j] += ofA * probability }
                for (sum, probability) in next[j - 1].enumerated() { row[sum] += ofB * probability }
                next.append(row)
            }
            rows = next
        }
        return rows[b]
    }
}
