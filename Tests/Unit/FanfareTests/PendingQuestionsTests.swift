import FanfareModel
import Testing

@testable import Fanfare

@Suite struct PendingQuestionsTests {
    @Test func everyQuestionIsAnsweredInItsOrderThatNothingIsKnown() {
        var questions = PendingQuestions(shards: 2)
        var dispositions: [String] = []
        var settles: [String] = []
        for number in 1...3 {
            _ = questions.settles.ask(until: .never) { settles.append("\(number) \($0)") }
            _ = questions.dispositions.ask { dispositions.append("\(number) \($0 == nil ? "unknown" : "known")") }
        }
        let answer = questions.closeAll()
        #expect(dispositions.isEmpty && settles.isEmpty, "whoever closes them says when they are answered")
        answer()
        #expect(dispositions == ["1 unknown", "2 unknown", "3 unknown"])
        #expect(settles == ["1 unknown", "2 unknown", "3 unknown"])
    }

    /// A shard's last answers may come late.
    @Test func noQuestionIsOpenOnceAllAreClosedAndNoneIsAnsweredTwice() {
        var questions = PendingQuestions(shards: 1)
        var answered = 0
        let disposition = questions.dispositions.ask { _ in answered += 1 }
        let settle = questions.settles.ask(until: .never) { _ in answered += 1 }
        let answer = questions.closeAll()
        let (dispositionsLeft, settlesLeft) = (questions.dispositions.count, questions.settles.count)
        #expect(dispositionsLeft == 0 && settlesLeft == 0)
        questions.dispositions.close(disposition)?(.noActivity)
        for late in questions.settles.answer(settle, isComplete: true, from: 0) { late() }
        let again = questions.closeAll()
        again()
        #expect(answered == 0)
        answer()
        #expect(answered == 2)
    }

    @Test func aQuestionThatAnAnswerAsksIsKeptAndNotAnswered() {
        var questions = PendingQuestions(shards: 1)
        var answered: [String] = []
        _ = questions.dispositions.ask { _ in
            answered.append("disposition")
            _ = questions.dispositions.ask { _ in answered.append("next disposition") }
        }
        _ = questions.settles.ask(until: .never) { _ in
            answered.append("settle")
            _ = questions.settles.ask(until: .never) { _ in answered.append("next settle") }
        }
        let answer = questions.closeAll()
        answer()
        let (dispositionsLeft, settlesLeft) = (questions.dispositions.count, questions.settles.count)
        #expect(answered.sorted() == ["disposition", "settle"])
        #expect(dispositionsLeft == 1 && settlesLeft == 1)
    }

    @Test func aSettleWaitsForEachOfTheShards() {
        var questions = PendingQuestions(shards: 3)
        let question = questions.settles.ask(until: .never) { _ in }
        let answers = (0..<3).map { questions.settles.answer(question, isComplete: true, from: $0).count }
        #expect(answers == [0, 0, 1])
    }
}
