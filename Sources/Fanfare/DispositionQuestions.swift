import FanfareModel

/// Questions about alerts on their way through a shard, each with the closure that takes its answer.
///
/// Closures are handed out instead of called here, so that they may ask the next question.
struct DispositionQuestions {
    typealias Answer = (AlertDisposition?) -> Void

    private var open: [UInt64: Answer] = [:]
    private var asked: UInt64 = 0

    var count: Int { open.count }

    /// - Returns: the question's number, by which the shard answers.
    mutating func ask(_ answer: @escaping Answer) -> UInt64 {
        asked += 1
        open[asked] = answer
        return asked
    }

    /// The shard has answered.
    ///
    /// - Returns: who wants to know; `nil`: nobody any more.
    mutating func close(_ number: UInt64) -> Answer? { open.removeValue(forKey: number) }

    /// No shard answers any more.
    ///
    /// - Returns: everybody who still wants to know, in the order of the questions.
    mutating func closeAll() -> [Answer] {
        defer { open = [:] }
        return open.sorted { $0.key < $1.key }.map(\.value)
    }

    func violation() -> String? {
        guard let unasked = open.keys.first(where: { $0 > asked }) else { return nil }
        return "question \(unasked) is open, and \(asked) were asked"
    }
}
