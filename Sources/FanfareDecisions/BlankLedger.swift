/// A ledger's reducer without facts, and its limits. Shared by all topics of a kind.
final class BlankLedger: Sendable {
    let reducer: any Reducer
    let factsMax: Int
    let awaitedMax: Int

    init(_ reducer: any Reducer, limits: Rules.Limits) {
        self.reducer = reducer
        factsMax = max(2, limits.factsMax)
        awaitedMax = limits.earlyRetractionsMax
    }
}
