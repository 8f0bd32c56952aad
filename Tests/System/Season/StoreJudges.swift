/// Judges of what a store has on each day.
struct StoreJudges {
    private var entries = GrowthJudge("the store's log entries", slack: 1024)
    private var rows = GrowthJudge("the store's rows", slack: 64)
    private var claims = GrowthJudge("the store's claims", slack: 512)
    private var fileBytes = GrowthJudge("the bytes of LMDB's files", slack: 1 << 20)
    private var checkpointBytes = GrowthJudge("the bytes of the checkpoints", slack: 1 << 18)

    mutating func note(_ day: StoreFigures) {
        entries.note(day.entries)
        rows.note(day.rows)
        claims.note(day.claims)
        fileBytes.note(day.fileBytes)
        checkpointBytes.note(day.checkpointBytes)
    }

    private var all: [GrowthJudge] { [entries, rows, claims, fileBytes, checkpointBytes] }

    /// - Returns: description of all that has grown; `nil` if nothing has.
    func growth() -> String? {
        let grown = all.compactMap { $0.growth() }
        return grown.isEmpty ? nil : grown.joined(separator: "; ")
    }

    /// What was measured, a line for each number.
    var summaries: [String] { all.map(\.summary) }
}
