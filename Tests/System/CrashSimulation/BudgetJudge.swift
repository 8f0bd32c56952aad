import FanfareFanOut
import FanfareModel

/// Judges that the budget for priority 10 begins half spent, in each life, of cards that a store hands back.
///
/// It knows less than the engine of the time in which uses come back, and counts all that may have come back since the life began: a push that it
/// objects to is beyond the budget in any case.
struct BudgetJudge {
    /// Pushes at priority 10 of a full budget, and seconds in which one comes back: more than most lives last.
    static let (burst, refill): (Int, Int64) = (4, 600)

    /// Limits of the activities in a world that the judge sees. Essential alerts leave although the budget is spent, so that other judges find them.
    static var limits: ActivityLimits {
        var limits = ActivityLimits()
        limits.immediate = TokenBucket.Size(burst: burst, refill: .seconds(refill))
        limits.essentialOverdraft = .max
        return limits
    }

    private static let half = burst / 2

    /// Pushes at priority 10 in this life, by card of the store.
    private var uses: [Int: Int] = [:]
    /// Second of the wall clock at which this life began.
    private var beganAt: Int64 = 0

    /// Notes that a life begins.
    ///
    /// - Parameters:
    ///   - cards: cards that the store hands back; others are not judged.
    ///   - second: of the wall clock. The stamps of the life begin there or later.
    mutating func begin(with cards: some Sequence<Int>, at second: Int64) {
        uses = Dictionary(uniqueKeysWithValues: cards.map { ($0, 0) })
        beganAt = second
    }

    /// Notes a push at priority 10.
    ///
    /// - Parameter isSilent: whether it has no alert; only such a push needs a budget.
    /// - Returns: what is wrong.
    mutating func noteUse(by card: Int, isSilent: Bool, stamp: Int64) -> String? {
        guard let used = uses[card] else { return nil }
        uses[card] = used + 1
        let back = (stamp - beganAt + 1) / BudgetJudge.refill
        let left = Int64(BudgetJudge.burst - BudgetJudge.half - used) + max(0, back)
        guard isSilent, left < 1 else { return nil }
        return
            "silent push at priority 10 after \(used) others of a budget of \(BudgetJudge.burst) that begins half spent"
    }

    /// Notes that a push at priority 10 was not processed, so that it has used nothing.
    mutating func noteReturn(to card: Int) {
        if let used = uses[card] { uses[card] = max(0, used - 1) }
    }

    /// Returns whether the card has used half of its budget, and not so much as a full one would have.
    func restrains(_ card: Int) -> Bool {
        uses[card].map { $0 >= BudgetJudge.burst - BudgetJudge.half && $0 < BudgetJudge.burst } ?? false
    }
}
