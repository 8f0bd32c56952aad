/// Pending reports of the tokens of started cards, in the order of time.
struct TokenReports {
    private var reports: [(at: SeasonTime, token: UInt64)] = []

    /// Time of the next report.
    var next: SeasonTime? { reports.first?.at }

    mutating func add(_ token: UInt64, at time: SeasonTime) { reports.append((time, token)) }

    /// Removes and returns the next token whose report is due.
    mutating func takeDue(at now: SeasonTime) -> UInt64? {
        guard let (at, token) = reports.first, at <= now else { return nil }
        reports.removeFirst()
        return token
    }
}
