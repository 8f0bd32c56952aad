import Testing

@testable import FanfareAPNs

/// Answers 429, to most tokens and to few.
@Suite struct ThrottlingTests {
    private static let second: Int64 = 1_000_000_000

    /// Notes a number of answers a second, of which every nth is 429.
    private func told(seconds: Int64, answersPerSecond: Int, every nth: Int) -> Int {
        var throttling = Throttling()
        var answered: UInt64 = 7
        var told = 0
        for second in 0..<seconds {
            for answer in 0..<answersPerSecond {
                if answer % nth == 0, throttling.note(answered: answered, at: second * Self.second) { told += 1 }
                answered += 1
            }
        }
        return told
    }

    @Test func mostAnswersAreToldOncePerSpan() {
        #expect(told(seconds: 61, answersPerSecond: 30, every: 1) == 6)
    }

    @Test func aMinorityAndAFewAreNotTold() {
        #expect(told(seconds: 61, answersPerSecond: 300, every: 3) == 0)
        #expect(told(seconds: 61, answersPerSecond: 5, every: 1) == 0)
    }

    @Test func aSpanThatNobodyEndedBeginsAnew() {
        var throttling = Throttling()
        for _ in 0..<500 { #expect(!throttling.note(answered: 0, at: 0)) }
        #expect(!throttling.note(answered: 100_000, at: 3600 * Self.second), "an hour of other answers lies between")
        #expect(!throttling.note(answered: 100_001, at: 3611 * Self.second))
    }
}
