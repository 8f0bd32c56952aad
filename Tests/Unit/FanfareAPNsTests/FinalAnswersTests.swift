import Testing

@testable import FanfareAPNs

@Suite struct FinalAnswersTests {
    private func answers(_ count: Int, finalEvery: Int?) -> FinalAnswers {
        var answers = FinalAnswers()
        for number in 1...count { answers.note(isFinal: finalEvery.map { number % $0 == 0 } ?? false) }
        return answers
    }

    @Test func oneConnectionThatCallsEverythingDeadIsFoundAfterAFew() throws {
        var ill = answers(100_000, finalEvery: 100)
        let others = answers(8000, finalEvery: 100)
        let believed = (0..<1000).first { _ in
            ill.note(isFinal: true)
            return !ill.areFew && ill.areTooMany(beside: others)
        }
        #expect(try #require(believed) < 250)
    }

    @Test func aFreshConnectionIsFoundBesideOneThatIsWell() {
        var ill = FinalAnswers()
        let others = answers(100, finalEvery: nil)
        let believed = (0..<100).first { _ in
            ill.note(isFinal: true)
            return !ill.areFew && ill.areTooMany(beside: others)
        }
        #expect(believed == 0)
    }

    /// The refusals come last among the thousand answers of one read.
    @Test(arguments: [2, 3, 10, 100]) func whereTokensAreDeadEverywhereEachIsBelieved(every: Int) {
        let others = answers(50_000, finalEvery: every)
        var one = answers(4000, finalEvery: every)
        #expect(!one.areTooMany(beside: others))
        for reading in 0..<20 {
            for number in 0..<1000 {
                one.note(isFinal: number >= 1000 - 1000 / every)
                #expect(!one.areTooMany(beside: others), "reading \(reading), answer \(number)")
            }
        }
    }

    @Test func answerWithNothingToCompareIsBelieved() {
        #expect(!answers(1000, finalEvery: 1).areTooMany(beside: FinalAnswers()))
        #expect(!answers(1000, finalEvery: 1).areTooMany(beside: answers(99, finalEvery: nil)))
        #expect(answers(1000, finalEvery: 1).areTooMany(beside: answers(100, finalEvery: nil)))
    }

    @Test(arguments: [1, 2, 100]) func finalAnswersAreSomeOfTheAnswersHoweverManyThereWere(every: Int) {
        var answers = FinalAnswers()
        for number in 0..<20_000 {
            answers.note(isFinal: number % every == 0)
            #expect(answers.violation() == nil, "answer \(number)")
        }
    }
}
