import FanfareModel
import Testing

@testable import FanfareAPNs

/// Answers 429, to most tokens and to few.
@Suite struct ThrottlingTests {
    /// Notes a number of answers a second, of which every nth is 429.
    private func told(seconds: Int64, answersPerSecond: Int, every nth: Int) -> Int {
        var throttling = Throttling()
        var answered: UInt64 = 7
        var told = 0
        for second in 0..<seconds {
            for answer in 0..<answersPerSecond {
                if answer % nth == 0, throttling.note(answered: answered, at: .after(.seconds(second))) { told += 1 }
                answered += 1
            }
        }
        return told
    }

    @Test func throttlingOfMostAnswersIsToldOncePerSpan() {
        #expect(told(seconds: 61, answersPerSecond: 30, every: 1) == 6)
    }

    @Test func throttlingOfAMinorityOrAFewIsNotTold() {
        #expect(told(seconds: 61, answersPerSecond: 300, every: 3) == 0)
        #expect(told(seconds: 61, answersPerSecond: 5, every: 1) == 0)
    }

    @Test func aSpanThatNobodyEndedBeginsAnew() {
        var throttling = Throttling()
        // An hour of other answers lies between the first and the second time.
        let told = [Int64](repeating: 0, count: 500) + [3600, 3611]
        #expect(
            told.enumerated().filter { throttling.note(answered: UInt64($0.offset), at: .after(.seconds($0.element))) }
                .isEmpty)
    }
}
