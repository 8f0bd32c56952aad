package import FanfareModel

/// Shows a restless number in steps, and moves only when it has really moved.
///
/// A plain rounding flickers where the value wavers about the border between two steps. With `hysteresis` above half a
/// step the value shown stays until the true one is that far away from it, so it is never wrong by more than `hysteresis`.
public struct Quantiser: Sendable, Hashable {
    /// In parts of the value; above 0.
    public let step: Int64
    /// In parts of the value; at least half a step, less would be flicker again.
    public let hysteresis: Int64
    /// Parts of one: 1, or 100 for percent of a share from 0 to 1.
    public let parts: Int64

    /// Values outside their ranges are taken to the nearest that may be: `parts` to 1, `step` to 1 or 10^18, `hysteresis` to
    /// half a step.
    public init(step: Int64, hysteresis: Int64, parts: Int64 = 1) {
        self.step = min(max(step, Quantiser.steps.lowerBound), Quantiser.steps.upperBound)
        self.hysteresis = max(hysteresis, (self.step + 1) / 2)
        self.parts = max(parts, 1)
    }

    /// Three of the largest are no overflow.
    private static let steps: ClosedRange<Int64> = 1...1_000_000_000_000_000_000

    /// For estimated arrivals, in seconds: the minute shown moves when the estimate is 45 s away from it. Estimates of
    /// the recorded subway waver by less than that between two polls more often than not.
    public static let minute = Quantiser(step: 60, hysteresis: 45)

    /// A share from 0 to 1 in steps of so many percent, moving when it is three fifths of a step away.
    public static func percent(_ step: Int64) -> Quantiser {
        let step = min(max(step, Quantiser.steps.lowerBound), Quantiser.steps.upperBound)
        return Quantiser(step: step, hysteresis: (step * 3 + 4) / 5, parts: 100)
    }

    /// The value to show for `value`, given the one shown before; `nil` for what is no number or too large to be cut into parts.
    package func quantise(_ value: JSONValue, shown: JSONValue?) -> JSONValue? {
        func inParts(_ value: JSONValue?) -> Int64? {
            value?.doubleValue.flatMap { Int64(exactly: ($0 * Double(parts)).rounded()) }
        }
        guard let whole = inParts(value) else { return nil }
        let quantised = quantise(whole, shown: inParts(shown))
        return parts == 1 ? .int(quantised) : .double(Double(quantised) / Double(parts))
    }

    /// The value to show for `value` parts, given the one shown before.
    package func quantise(_ value: Int64, shown: Int64?) -> Int64 {
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
