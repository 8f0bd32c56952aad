/// What becomes of the question whether everybody has what was sent before.
package enum Settlement {
    /// Everybody has it, or something newer.
    case complete
    /// Nothing is on its way any more, but somebody was refused it for good.
    case refused
    /// The time is over, or the engine stops.
    case unknown
}

/// Who waits until everybody has what was sent before, and what the shards have said to that.
///
/// Questions are numbered. A shard's answer to one is an answer to all before it, and who has waited for long enough is withdrawn:
/// so nothing here, or in a shard, grows with the questions that were asked in vain.
struct SettleQueue {
    private struct Waiting {
        let question: UInt64
        /// Monotonic nanoseconds.
        let until: Int64
        let settled: (Settlement) -> Void
    }

    /// In the order of their questions.
    private var waiting: [Waiting] = []
    private var asked: UInt64 = 0
    /// Of each shard the newest.
    private var answers: [(question: UInt64, isComplete: Bool)]

    init(shards: Int) { answers = Array(repeating: (0, true), count: shards) }

    var count: Int { waiting.count }

    /// - Parameter until: who waits does so no longer than that, monotonic nanoseconds.
    /// - Returns: the question's number, which all shards are to be asked.
    mutating func ask(until: Int64, _ settled: @escaping (Settlement) -> Void) -> UInt64 {
        asked += 1
        waiting.append(Waiting(question: asked, until: until, settled: settled))
        return asked
    }

    /// A shard has answered this question, and all before it.
    mutating func answer(_ question: UInt64, isComplete: Bool, from shard: Int) {
        answers[shard] = (question, isComplete)
        let answered = answers.lazy.map(\.question).min() ?? 0
        let settlement = answers.allSatisfy(\.isComplete) ? Settlement.complete : .refused
        let settled = waiting.prefix { $0.question <= answered }
        waiting.removeFirst(settled.count)
        for one in settled { one.settled(settlement) }
    }

    /// Whose time is over is told so.
    mutating func withdraw(at now: Int64) {
        guard waiting.contains(where: { $0.until <= now }) else { return }
        let late = waiting.filter { $0.until <= now }
        waiting.removeAll { $0.until <= now }
        for one in late { one.settled(.unknown) }
    }

    /// There will be no answers any more.
    mutating func withdrawAll() { withdraw(at: .max) }
}
