import FanfareModel

/// Questions about alerts that a shard has not answered yet, each with its closure for the answer.
///
/// The table returns closures instead of calling them, so that a closure may ask the next question.
struct DispositionQuestions {
    typealias Answer = (AlertDisposition?) -> Void

    private var unanswered: [UInt64: Answer] = [:]
    private var asked: UInt64 = 0

    var count: Int { unanswered.count }

    /// - Returns: number of the question, which the shard's answer repeats.
    mutating func ask(_ answer: @escaping Answer) -> UInt64 {
        asked += 1
        unanswered[asked] = answer
        return asked
    }

    /// Removes a question that the shard has answered.
    ///
    /// - Returns: the closure for the answer; `nil` if the question is no longer open.
    mutating func close(_ number: UInt64) -> Answer? { unanswered.removeValue(forKey: number) }

    /// Removes all questions, because no shard answers any more.
    ///
    /// - Returns: the closures in the order of the questions.
    mutating func closeAll() -> [Answer] {
        defer { unanswered = [:] }
        return unanswered.sorted { $0.key < $1.key }.map(\.value)
    }

    func violation() -> String? {
        guard let unasked = unanswered.keys.first(where: { $0 > asked }) else { return nil }
        return "question \(unasked) is open, and \(asked) were asked"
    }
}
