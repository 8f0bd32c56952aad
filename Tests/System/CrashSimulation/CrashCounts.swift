/// Counts of what worlds have done to their engines. A run in which a fault never happened proves nothing of it.
package struct CrashCounts: Sendable, Equatable {
    /// Worlds, and the steps that they have drawn: calls, events, turns of a thread, answers, syncs and clock advances.
    package var worlds = 0, steps = 0
    /// Deaths without warning, and those of them that met pushes in flight.
    package var crashes = 0, crashesInSweeps = 0
    /// Writes of which a crash has left nothing, only the first entries, or all entries without an answer.
    package var lost = 0, torn = 0, unheard = 0
    /// Stalls of a part of the disk.
    package var stalls = 0
    /// Requests for claims that have become durable.
    package var claims = 0
    /// Silent pushes that a phone had before.
    package var superfluous = 0

    package init() {}

    package static func += (sum: inout CrashCounts, more: CrashCounts) {
        sum.worlds += more.worlds
        sum.steps += more.steps
        sum.crashes += more.crashes
        sum.crashesInSweeps += more.crashesInSweeps
        sum.lost += more.lost
        sum.torn += more.torn
        sum.unheard += more.unheard
        sum.stalls += more.stalls
        sum.claims += more.claims
        sum.superfluous += more.superfluous
    }

    /// The counts that no run may lack, with their names.
    private var wanted: [(name: String, count: Int)] {
        [
            ("steps", steps), ("crashes", crashes), ("crashes inside a sweep", crashesInSweeps), ("lost writes", lost),
            ("torn writes", torn), ("unheard writes", unheard), ("stalls", stalls), ("claims", claims),
        ]
    }

    package var text: String {
        let counts = wanted.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
        return "\(worlds) worlds, \(counts), \(superfluous) superfluous pushes"
    }

    /// Names of what has not happened. A push that a phone had before is no fault that a run has to meet.
    package var missing: [String] { wanted.filter { $0.count == 0 }.map(\.name) }
}
