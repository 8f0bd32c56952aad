import FanfareModel

/// Pending settles and the shards' answers to them.
///
/// Settles are numbered questions. A shard's answer to one answers all before it, and a settle whose time is over is withdrawn, so neither the queue
/// nor a shard grows with unanswered questions. The queue returns answers instead of giving them, so that a receiver of an answer may ask the next
/// question.
struct SettleQueue {
    typealias Answer = () -> Void

    private struct Waiting {
        let question: UInt64
        let until: MonotonicTime
        let settled: (Settlement) -> Void
    }

    /// Pending settles in the order of their questions.
    private var waiting: [Waiting] = []
    private var asked: UInt64 = 0
    /// Newest answer of each shard.
    private var answers: [(question: UInt64, isComplete: Bool)]

    init(shards: Int) { answers = Array(repeating: (0, true), count: shards) }

    var count: Int { waiting.count }

    /// Earliest deadline of a pending settle; `nil` if none has one.
    var nextDeadline: MonotonicTime? { waiting.lazy.map(\.until).min().flatMap { $0 < .never ? $0 : nil } }

    /// - Parameter until: deadline.
    /// - Returns: number of the question to ask all shards.
    mutating func ask(until: MonotonicTime, _ settled: @escaping (Settlement) -> Void) -> UInt64 {
        asked += 1
        waiting.append(Waiting(question: asked, until: until, settled: settled))
        return asked
    }

    /// Notes a shard's answer to this question and all before it.
    ///
    /// - Returns: the answers to settles that all shards have answered now.
    mutating func answer(_ question: UInt64, isComplete: Bool, from shard: Int) -> [Answer] {
        answers[shard] = (question, isComplete)
        let answered = answers.lazy.map(\.question).min() ?? 0
        let settlement = answers.allSatisfy(\.isComplete) ? Settlement.complete : .refused
        let settled = waiting.prefix { $0.question <= answered }
        waiting.removeFirst(settled.count)
        return settled.map { one in { one.settled(settlement) } }
    }

    /// Removes settles whose time is over.
    ///
    /// - Returns: their answers, which are `unknown`.
    mutating func withdraw(at now: MonotonicTime) -> [Answer] {
        guard waiting.contains(where: { $0.until <= now }) else { return [] }
        let late = waiting.filter { $0.until <= now }
        waiting.removeAll { $0.until <= now }
        return late.map { one in { one.settled(.unknown) } }
    }

    /// Removes all settles, because no shard will answer.
    ///
    /// - Returns: their answers, which are `unknown`.
    mutating func closeAll() -> [Answer] { withdraw(at: .never) }

    /// Describes settles out of order, a settle that all shards have answered, or one that nobody asked for; `nil` if there is none.
    func violation() -> String? {
        let questions = waiting.map(\.question)
        guard zip(questions, questions.dropFirst()).allSatisfy({ $0 < $1 }) else { return "settles are out of order" }
        let answered = answers.lazy.map(\.question).min() ?? 0
        guard questions.first ?? .max > answered, questions.last ?? 0 <= asked else {
            return "settles wait from question \(questions.first ?? 0) on, \(answered) of \(asked) are answered"
        }
        return nil
    }
}
