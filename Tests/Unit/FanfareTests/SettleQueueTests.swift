import FanfareModel
import Testing

@testable import Fanfare

@Suite struct SettleQueueTests {
    private final class Answers {
        var given: [Settlement] = []
    }

    @Test func aQuestionIsAnsweredWhenTheLastShardHasAnsweredItOrANewerOne() {
        let answers = Answers()
        var queue = SettleQueue(shards: 2)
        let questions = (0..<3).map { _ in queue.ask(until: .never) { answers.given.append($0) } }
        for answer in queue.answer(questions[2], isComplete: true, from: 0) { answer() }
        #expect(answers.given == [])
        for answer in queue.answer(questions[1], isComplete: true, from: 1) { answer() }
        #expect(answers.given == [.complete, .complete])
        for answer in queue.answer(questions[2], isComplete: true, from: 1) { answer() }
        #expect(answers.given == [.complete, .complete, .complete])
        #expect(queue.count == 0)
    }

    @Test func aRefusalInOneShardMakesASettleRefused() {
        let answers = Answers()
        var queue = SettleQueue(shards: 2)
        let first = queue.ask(until: .never) { answers.given.append($0) }
        for answer in queue.answer(first, isComplete: false, from: 1) { answer() }
        for answer in queue.answer(first, isComplete: true, from: 0) { answer() }
        let second = queue.ask(until: .never) { answers.given.append($0) }
        for answer in queue.answer(second, isComplete: true, from: 0) { answer() }
        for answer in queue.answer(second, isComplete: true, from: 1) { answer() }
        #expect(answers.given == [.refused, .complete])
    }

    @Test func aQuestionWhoseTimeIsOverIsAnsweredAndForgotten() {
        let answers = Answers()
        var queue = SettleQueue(shards: 1)
        for second in Int64(1)...1000 {
            _ = queue.ask(until: MonotonicTime(nanoseconds: second)) { answers.given.append($0) }
        }
        let last = queue.ask(until: .never) { answers.given.append($0) }
        for answer in queue.withdraw(at: MonotonicTime(nanoseconds: 999)) { answer() }
        #expect(
            queue.count == 2 && answers.given.count == 999 && answers.given.allSatisfy { $0 == .unknown })
        for answer in queue.answer(last, isComplete: true, from: 0) { answer() }
        #expect(answers.given.suffix(2) == [.complete, .complete])
        _ = queue.ask(until: .never) { answers.given.append($0) }
        for answer in queue.closeAll() { answer() }
        #expect(queue.count == 0 && answers.given.last == .unknown)
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func questionsAndAnswersAgreeWhateverComesNext(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = SettleQueue(shards: 3)
        var asked: UInt64 = 0
        var answered: [UInt64] = [0, 0, 0]
        for step in 0..<1000 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let until = MonotonicTime(nanoseconds: Int64(step + 50))
                asked = queue.ask(until: Bool.random(using: &random) ? .never : until) { _ in }
            case 2:
                let shard = Int.random(in: 0..<3, using: &random)
                answered[shard] = UInt64.random(in: answered[shard]...asked, using: &random)
                _ = queue.answer(answered[shard], isComplete: true, from: shard)
            default: _ = queue.withdraw(at: MonotonicTime(nanoseconds: Int64(step)))
            }
            let violation = queue.violation()
            #expect(violation == nil, "seed \(seed), step \(step)")
        }
    }
}
