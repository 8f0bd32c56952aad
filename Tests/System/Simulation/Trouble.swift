/// A kind of trouble in a world.
package enum Trouble: String, CaseIterable, Sendable {
    // Answers.
    case deadToken = "dead token"
    case throttled
    case notProcessed = "not processed"
    case noAnswer = "no answer"
    case refused
    case sickToken = "sick token"
    case silentToken = "silent token"
    case wedgedConnection = "wedged connection"
    case outage = "service fails"
    case revokedKey = "revoked key"
    case wrongEnvironment = "wrong environment"
    // Circumstances in which a push leaves.
    case clockAhead = "clock ahead"
    case clockBack = "clock back"
    case shutGuard = "shut guard"
    case massUnfollow = "mass unfollow"
    case fullRing = "full ring"
    case lostToken = "token never comes"
    // History of the activity or its topic.
    case reusedID = "reused id"
    case reRegistered = "re-registered while shut"
    case disorderedEvent = "event out of order"
    case reopened = "topic begun again"
    case reborn = "forgotten topic begun"
}

/// A kind of push that a trouble can meet.
package enum Meeting: String, CaseIterable, Sendable {
    case goal, end, start
    case handOver = "hand-over"
}

/// Counts how often each trouble has met each kind of push: a trouble that meets nothing proves nothing.
package struct TroublesMet: Sendable {
    private var counts = Array(repeating: 0, count: Trouble.allCases.count * Meeting.allCases.count)

    package init() {}

    mutating func note(_ trouble: Trouble, _ meeting: Meeting) { counts[TroublesMet.index(trouble, meeting)] += 1 }

    package static func += (a: inout TroublesMet, b: TroublesMet) {
        for index in a.counts.indices { a.counts[index] += b.counts[index] }
    }

    /// The counts as lines of equal columns.
    package var table: String {
        func cell(_ text: String) -> String { String(repeating: " ", count: max(1, 12 - text.count)) + text }
        let width = Trouble.allCases.map(\.rawValue.count).max() ?? 0
        func line(_ name: String, _ cells: [String]) -> String {
            name + String(repeating: " ", count: width - name.count) + cells.map(cell).joined()
        }
        let rows = Trouble.allCases.map { trouble in
            line(trouble.rawValue, Meeting.allCases.map { "\(counts[TroublesMet.index(trouble, $0)])" })
        }
        return ([line("", Meeting.allCases.map(\.rawValue))] + rows).joined(separator: "\n")
    }

    private static func index(_ trouble: Trouble, _ meeting: Meeting) -> Int {
        (Trouble.allCases.firstIndex(of: trouble) ?? 0) * Meeting.allCases.count
            + (Meeting.allCases.firstIndex(of: meeting) ?? 0)
    }
}
