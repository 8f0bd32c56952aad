/// Shows a restless number in steps, and moves only when it has really moved.
///
/// A plain rounding flickers where the value wavers about the border between two steps. With `hysteresis` above half a
/// step the value shown stays until the true one is that far away from it, so it is never wrong by more than `hysteresis`.
public struct Quantiser: Sendable, Hashable {
    /// In units of the value; above 0.
    public let step: Int64
    /// In units of the value; at least half a step, less would be flicker again.
    public let hysteresis: Int64

    public init(step: Int64, hysteresis: Int64) {
        self.step = max(step, 1)
        self.hysteresis = max(hysteresis, (self.step + 1) / 2)
    }

    /// For estimated arrivals, in seconds: the minute shown moves when the estimate is 45 s away from it. Estimates of
    /// the recorded subway waver by less than that between two polls more often than not.
    public static let minute = Quantiser(step: 60, hysteresis: 45)

    /// The value to show for `value`, given the one shown before.
    public func quantise(_ value: Int64, shown: Int64?) -> Int64 {
        if let shown {
            let (away, overflow) = value.subtractingReportingOverflow(shown)
            if !overflow, away.magnitude < hysteresis.magnitude { return shown }
        }
        // Nearest step, halves upwards; values too large to have one stay as they are.
        let (raised, overflow) = value.addingReportingOverflow(step / 2)
        guard !overflow else { return value }
        let remainder = raised % step
        let (floor, underflow) = raised.subtractingReportingOverflow(remainder < 0 ? remainder + step : remainder)
        return underflow ? value : floor
    }
}
