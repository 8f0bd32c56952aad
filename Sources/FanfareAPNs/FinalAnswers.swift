/// How many of a connection's answers end what its activities get: dead tokens, and requests that are refused for good.
///
/// A server that is ill may call everybody's token dead; behind the other connections are servers that know better. Over thousands of pushes
/// a healthy connection brings about as many final answers as the others do. One topic's followers may all come to one connection, so that
/// too many are a reason to ask another one, and no verdict. What was answered long ago counts less and less: a connection that has been
/// well for a week is judged by what it says now.
struct FinalAnswers {
    private(set) var answers = 0
    private(set) var final = 0

    /// Several times a connection's width: within one reading all refusals come behind all that was accepted.
    private static let memory = 8192
    private static let finalMin = 16
    /// Of the others, before they are a measure.
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

    /// Nobody needs to look at the others.
    var areFew: Bool { final <= grace }

    /// Chance has brought some to a connection that has answered well; one that has not is asked about from the first on.
    private var grace: Int { final == answers ? 0 : FinalAnswers.finalMin }

    /// More than twice as many as the others bring.
    func areTooMany(beside others: FinalAnswers) -> Bool {
        guard others.answers >= FinalAnswers.othersMin else { return false }
        return (final - grace) * others.answers > 2 * others.final * answers
    }
}
