import FanfareModel

/// An activity's use of its limits, as its debts to them in seconds (`RateLimit`). They count from the activity's stamp, which is kept anyway, marks the
/// last push, and never goes back. So no part of a refill is lost by rounding, and none is added twice.
struct BudgetUse: Equatable {
    // One word, because it is compared for every push of a sweep.
    private var word: UInt32 = 0

    init() {}

    /// - Parameters: seconds, of two bytes each.
    init(immediate: UInt32, alerts: UInt32) {
        word[bits: 16..<32] = immediate
        word[bits: 0..<16] = alerts
    }

    private var immediate: UInt32 { word[bits: 16..<32] }
    /// Seconds until the alert bucket is full. They exceed the bucket after an essential alert that found it empty, so that a return of
    /// that alert's charge refills nothing.
    private var alerts: UInt32 { word[bits: 0..<16] }

    func immediate(after seconds: UInt32) -> UInt32 { RateLimit.rest(of: immediate, after: seconds) }

    /// - Parameter most: capacity of the limit.
    func alerts(atMost most: UInt32, after seconds: UInt32) -> UInt32 {
        RateLimit.rest(of: min(alerts, most), after: seconds)
    }

    /// Returns this use without charges that are given back.
    func returning(immediate: UInt32, alerts: UInt32) -> BudgetUse {
        BudgetUse(
            immediate: RateLimit.rest(of: self.immediate, after: immediate),
            alerts: RateLimit.rest(of: self.alerts, after: alerts))
    }
}
