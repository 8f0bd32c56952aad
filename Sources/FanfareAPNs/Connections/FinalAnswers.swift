/// Counts a connection's final answers, after which an activity gets nothing more: dead tokens, and requests that are refused for good.
///
/// A broken server may call every token dead, while the servers behind the other connections know better. A healthy
/// connection has about as many final answers in thousands of pushes as the others. All followers of one topic may come to
/// one connection, so too many final answers are a reason to ask another connection, and no verdict. Old answers count less
/// and less: a connection that has been healthy for a week is judged by its present answers.
struct FinalAnswers {
    private(set) var answers = 0
    private(set) var final = 0

    /// Answers after which all counts are halved: several times a connection's width, because all refusals of one read
    /// follow everything that was accepted.
    private static let memory = 8192
    private static let finalMin = 16
    /// Minimum number of answers of the other connections before they serve as a measure.
    private static let othersMin = 100

    mutating func note(isFinal: Bool) {
        answers += 1
        if isFinal { final += 1 }
        if answers >= FinalAnswers.memory { (answers, final) = (answers / 2, final / 2) }
    }

    mutating func add(_ other: FinalAnswers) {
        answers += other.answers
        final += other.final
    }

    /// `true` if the final answers are too few for a comparison with other connections.
    var areFew: Bool { final <= grace }

    /// Final answers that count as chance; none while a connection has had no other answers.
    private var grace: Int { final == answers ? 0 : FinalAnswers.finalMin }

    /// Returns `true` if the share of final answers is more than twice that of the others.
    func areTooMany(beside others: FinalAnswers) -> Bool {
        guard others.answers >= FinalAnswers.othersMin else { return false }
        return (final - grace) * others.answers > 2 * others.final * answers
    }

    /// Describes final answers that are none of the answers; `nil` if there are none. For tests.
    func violation() -> String? { final <= answers ? nil : "\(final) final of \(answers) answers" }
}
