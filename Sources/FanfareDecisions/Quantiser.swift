package import FanfareModel

/// Shows a fluctuating number in steps, and moves only on a real change.
///
/// Plain rounding flickers while the value wavers around the border between two steps. The shown value stays until the true one is `hysteresis` away
/// if that is more than half a step, so it is never wrong by more than `hysteresis`.
public struct Quantiser: Sendable, Hashable {
    /// Step, in parts of the value; above 0.
    public let step: Int64
    /// Hysteresis, in parts of the value; at least half a step, because less would flicker again.
    public let hysteresis: Int64
    /// Parts of one: 1, or 100 for a share from 0 to 1 in percent.
    public let parts: Int64

    /// Clamps values to their ranges: `parts` to at least 1, `step` to 1…10^18, `hysteresis` to at least half a step.
    public init(step: Int64, hysteresis: Int64, parts: Int64 = 1) {
        self.step = min(max(step, Quantiser.steps.lowerBound), Quantiser.steps.upperBound)
        self.hysteresis = max(hysteresis, (self.step + 1) / 2)
        self.parts = max(parts, 1)
    }

    /// Valid steps; three times the largest one does not overflow.
    private static let steps: ClosedRange<Int64> = 1...1_000_000_000_000_000_000

    /// Quantiser for estimated arrivals, in seconds: the minute shown moves when the estimate is 45 s away from it. Between two
    /// polls, most estimates of the recorded subway vary by less than that.
    public static let minute = Quantiser(step: 60, hysteresis: 45)

    /// Quantiser for a share from 0 to 1 in steps of `step` percent, which moves when the value is three fifths of a step away.
    public static func percent(_ step: Int64) -> Quantiser {
        let step = min(max(step, Quantiser.steps.lowerBound), Quantiser.steps.upperBound)
        return Quantiser(step: step, hysteresis: (step * 3 + 4) / 5, parts: 100)
    }

    /// Returns the value to show for `value`, given the one shown before; `nil` if it is no number or too large to cut into parts.
    package func quantise(_ value: JSONValue, shown: JSONValue?) -> JSONValue? {
        func inParts(_ value: JSONValue?) -> Int64? {
            value?.doubleValue.flatMap { Int64(exactly: ($0 * Double(parts)).rounded()) }
        }
        guard let whole = inParts(value) else { return nil }
        let quantised = quantise(whole, shown: inParts(shown))
        return parts == 1 ? .int(quantised) : .double(Double(quantised) / Double(parts))
    }

    /// Returns the value to show for `value` parts, given the one shown before.
    package func quantise(_ value: Int64, shown: Int64?) -> Int64 {
        if let shown {
            let (away, overflow) = value.subtractingReportingOverflow(shown)
            if !overflow, away.magnitude < hysteresis.magnitude { return shown }
        }
        // Rounds to the nearest step, halves upwards; values too large for that stay unchanged.
        let (raised, overflow) = value.addingReportingOverflow(step / 2)
        guard !overflow else { return value }
        let remainder = raised % step
        let (floor, underflow) = raised.subtractingReportingOverflow(remainder < 0 ? remainder + step : remainder)
        return underflow ? value : floor
    }
}
