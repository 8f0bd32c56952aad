import FanfareLog

/// Meters of the parts of an engine's store, for any thread.
struct StoreMeters: Sendable {
    let log: CommitMeter
    let people: CommitMeter
    let claims: CommitMeter

    /// - Parameter changesWaiting: changes of cards that are not carried out.
    func counts(changesWaiting: Int) -> StoreCounts {
        var counts = StoreCounts(log: log, entriesWaiting: log.waiting)
        let people = people.figures
        counts.changesWaiting = changesWaiting
        counts.claimsWaiting = claims.waiting
        counts.cards = people.rows
        counts.people = CommitCounts(people)
        counts.claims = CommitCounts(claims.figures)
        return counts
    }
}
