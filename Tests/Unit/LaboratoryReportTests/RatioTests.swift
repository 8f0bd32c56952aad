import Foundation
import LaboratoryReport
import Testing

@Suite("Ratios")
struct RatioTests {
    /// Tables of Wilcoxon's tests: with six pairs and 5 % the interval goes from the least mean of two to the greatest; with ten pairs
    /// eight means are left out at each end.
    @Test func intervalsOfPairsAreThoseOfTheTables() throws {
        let logs = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06]
        let six = try #require(Ratio(pairs: logs.map { (1, exp($0)) }, error: 0.05))
        #expect(abs(log(six.low) - 0.01) < 1e-12)
        #expect(abs(log(six.high) - 0.06) < 1e-12)
        #expect(abs(log(six.estimate) - 0.035) < 1e-12)
        #expect(Ratio(pairs: logs.dropLast().map { (1, exp($0)) }, error: 0.05) == nil)
        #expect(Ratio.pairsMin(error: 0.05) == 6)

        let ten = (0..<10).map { Double($0) / 100 }
        let ratio = try #require(Ratio(pairs: ten.map { (1, exp($0)) }, error: 0.05))
        var means: [Double] = []
        for i in 0..<10 { for j in i..<10 { means.append((ten[i] + ten[j]) / 2) } }
        means.sort()
        #expect(abs(log(ratio.low) - means[8]) < 1e-12)
        #expect(abs(log(ratio.high) - means[55 - 9]) < 1e-12)
    }

    /// Mann and Whitney's table: five runs beside five and 5 %: two differences are left out at each end.
    @Test func intervalsOfRunsAreThoseOfTheTables() throws {
        let (a, b) = ([1.0, 2, 3, 4, 5], [11.0, 12, 13, 14, 15])
        let ratio = try #require(Ratio(a: a, b: b, error: 0.05))
        let ratios = a.flatMap { first in b.map { $0 / first } }.sorted()
        #expect(abs(ratio.low - ratios[2]) < 1e-9)
        #expect(abs(ratio.high - ratios[22]) < 1e-9)
        #expect(abs(ratio.estimate - ratios[12]) < 1e-9)
        #expect(Ratio(a: [1, 2, 3], b: [1, 2, 3], error: 0.05) == nil)
        #expect(Ratio.runsMin(error: 0.05) == 4)
    }

    @Test func aDisturbedRunMovesNothing() throws {
        var pairs = (0..<20).map { (a: 1.0, b: 1.05 + Double($0 % 3) / 1000) }
        pairs[4].a = 40
        let ratio = try #require(Ratio(pairs: pairs, error: 0.01))
        #expect((1.049...1.053).contains(ratio.estimate))
        #expect(ratio.low > 1.02)
    }

    /// The promise of the interval itself, counted: of a thousand comparisons without a difference 5 % or fewer miss 1.
    @Test func theIntervalMissesAsOftenAsItSays() throws {
        var draw = Draw(seed: 11)
        var missed = (pairs: 0, runs: 0)
        for _ in 0..<1000 {
            let values = (0..<20).map { _ in exp(draw.normal(0.1)) }
            let (a, b) = (Array(values[..<10]), Array(values[10...]))
            let pairs = try #require(Ratio(pairs: Array(zip(a, b)), error: 0.05))
            if pairs.low > 1 || pairs.high < 1 { missed.pairs += 1 }
            let runs = try #require(Ratio(a: a, b: b, error: 0.05))
            if runs.low > 1 || runs.high < 1 { missed.runs += 1 }
        }
        // Expected: 49 and 43, by the tables; four deviations are 28.
        #expect((21...77).contains(missed.pairs), "\(missed)")
        #expect((15...71).contains(missed.runs), "\(missed)")
    }
}
