import FanfareModel
import Testing

@testable import Fanfare

@Suite struct DispositionQuestionsTests {
    @Test func answerGoesToTheQuestionOfItsNumberOnce() {
        var questions = DispositionQuestions()
        var answers: [String] = []
        let first = questions.ask { _ in answers.append("first") }
        let second = questions.ask { _ in answers.append("second") }
        #expect(questions.count == 2 && questions.violation() == nil)
        questions.close(second)?(.noActivity)
        let again = questions.close(second)
        #expect(answers == ["second"] && again == nil)
        questions.close(first)?(nil)
        #expect(answers == ["second", "first"] && questions.count == 0)
    }

    @Test func openQuestionsAreClosedInTheirOrder() {
        var questions = DispositionQuestions()
        var answers: [Int] = []
        for number in 0..<20 { _ = questions.ask { _ in answers.append(number) } }
        _ = questions.close(3)
        for answer in questions.closeAll() { answer(nil) }
        #expect(answers == (0..<20).filter { $0 != 2 } && questions.count == 0)
    }
}
