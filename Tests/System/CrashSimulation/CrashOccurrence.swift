package import FanfareTestSupport

/// What worlds do to their engines. A run in which a fault never happened proves nothing of it.
package enum CrashOccurrence: Int, CaseIterable, Sendable {
    /// Worlds, and the steps that they have drawn: calls, events, turns of a thread, answers, syncs and clock advances.
    case worlds, steps
    /// Deaths without warning, and those of them that met pushes in flight.
    case crashes, crashesInSweeps
    /// Writes of which a crash has left nothing, only the first entries, or all entries without an answer.
    case lost, torn, unheard
    /// Stalls of a part of the disk.
    case stalls
    /// Requests for claims that have become durable.
    case claims
    /// Lineups that were calm when the engine ended, and got no push by the restart, because their completions were noted.
    case sparedLineups
    /// Silent pushes that a phone had before.
    case superfluous
}

extension WorldCounts where Occurrence == CrashOccurrence {
    /// Occurrences that no run may lack, with their names. A push that a phone had before is no fault that a run has to meet.
    private static var wanted: [(name: String, occurrence: CrashOccurrence)] {
        [
            ("steps", .steps), ("crashes", .crashes), ("crashes inside a sweep", .crashesInSweeps),
            ("lost writes", .lost), ("torn writes", .torn), ("unheard writes", .unheard), ("stalls", .stalls),
            ("claims", .claims), ("spared lineups", .sparedLineups),
        ]
    }

    package var text: String {
        let counts = Self.wanted.map { "\(self[$0.occurrence]) \($0.name)" }.joined(separator: ", ")
        return "\(self[.worlds]) worlds, \(counts), \(self[.superfluous]) superfluous pushes"
    }

    /// Names of what has not happened.
    package var missing: [String] { Self.wanted.filter { self[$0.occurrence] == 0 }.map(\.name) }
}
