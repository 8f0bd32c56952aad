/// Judges the order of a shard's answers to questions, and keeps what was lacked when the shard got each question.
struct QuestionJudge<Lack> {
    private var asked: UInt64 = 0
    private var answered: UInt64 = 0
    /// What was lacked at each question that has reached the shard and has no answer.
    private var unanswered: [UInt64: [Lack]] = [:]

    /// - Returns: the number of the new question.
    mutating func ask() -> UInt64 {
        asked += 1
        return asked
    }

    /// Notes what is lacked when a question reaches the shard.
    mutating func reached(_ question: UInt64, lacking lacks: [Lack]) { unanswered[question] = lacks }

    /// - Returns: the fault of an answer; `nil` if it has its turn.
    mutating func seen(answerTo question: UInt64) -> String? {
        guard question > answered, question <= asked else { return "question \(question) is answered out of its turn" }
        answered = question
        return nil
    }

    /// Takes what was lacked at the questions that are answered: an answer is one to earlier questions, too.
    mutating func takeAnswered() -> [(question: UInt64, lacks: [Lack])] {
        unanswered.keys.filter { $0 <= answered }.sorted().map { ($0, unanswered.removeValue(forKey: $0) ?? []) }
    }

    /// Checks that each question has its answer once everything has settled.
    func violation() -> String? { answered == asked ? nil : "nobody answers question \(asked)" }
}
