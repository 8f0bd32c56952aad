import FanfareLoop
import Testing

@Suite struct PingAnswersTests {
    @Test func aPingIsAnsweredUnlessItsConnectionIsToGetNoAnswer() throws {
        let answers = PingAnswers(try Loop())
        answers.withheld = [1]
        var written: [[UInt8]] = []
        for connection in 0...1 {
            answers.answer([UInt8](repeating: 7, count: 8), of: connection) { written.append($0) }
        }
        #expect(answers.count == 1)
        #expect(written == [frame(6, flags: 1, [UInt8](repeating: 7, count: 8))])
    }
}
