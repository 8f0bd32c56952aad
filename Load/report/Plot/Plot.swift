/// A plot as data: what a program draws and a table tells.
package struct Plot: Sendable {
    package enum Scale: Sendable { case linear, logarithmic }

    package struct Tick: Sendable, Equatable {
        package let at: Double
        package let text: String
    }

    package struct Axis: Sendable {
        package var label = ""
        package var scale = Scale.linear
        package var ticks: [Tick]
        package var low: Double
        package var high: Double
    }

    package struct Point: Sendable, Equatable {
        package let x: Double
        package let y: Double
    }

    package struct Series: Sendable {
        package let name: String
        package let points: [Point]
    }

    package enum Content: Sendable {
        /// At most `seriesMax`.
        case lines([Series])
        /// As lines, where a value holds from the point before to its own. At most `seriesMax`.
        case steps([Series])
        /// Lengths of horizontal bars, from the top. The labels are the ticks of the vertical axis.
        case bars([Double])
    }

    package static let seriesMax = 5

    /// Name of the plot on the command line, and part of its address in a page: letters only.
    package let name: String
    package let title: String
    /// The plot in words, for those who do not see it.
    package let description: String
    package let x: Axis
    package let y: Axis
    package let content: Content
    package let table: Table
}

/// Texts in rows; the first cell of each row names it.
package struct Table: Sendable, Equatable {
    package var header: [String]
    package var rows: [[String]]
}

extension Plot.Axis {
    /// An axis over some values, with whole decades or round steps.
    ///
    /// - Parameters:
    ///   - text: writes a tick.
    ///   - spread: ratio of the greatest to the least value from which the scale is logarithmic; nil: never.
    static func over(
        _ values: some Sequence<Double>, label: String = "", logarithmicFrom spread: Double?, text: (Double) -> String
    ) -> Plot.Axis {
        let finite = values.filter(\.isFinite)
        let greatest = finite.max() ?? 0
        let positive = finite.filter { $0 > 0 }.min() ?? 1
        if let spread, greatest / positive >= spread {
            let (first, last) = (
                decade(below: positive), max(decade(below: greatest * 0.999_999) + 1, decade(below: positive) + 1)
            )
            let ticks = (first...last).map { Plot.Tick(at: power($0), text: text(power($0))) }
            return Plot.Axis(label: label, scale: .logarithmic, ticks: ticks, low: power(first), high: power(last))
        }
        let step = roundStep(greatest > 0 ? greatest / 4 : 0.25)
        let count = max(1, Int((greatest / step - 1e-9).rounded(.up)))
        let ticks = (0...count).map { Plot.Tick(at: Double($0) * step, text: text(Double($0) * step)) }
        return Plot.Axis(label: label, scale: .linear, ticks: ticks, low: 0, high: Double(count) * step)
    }

    /// The least of 1, 2 and 5 times a power of ten that is not below the value.
    private static func roundStep(_ value: Double) -> Double {
        let power = power(decade(below: value))
        return [1, 2, 5].map { $0 * power }.first { $0 >= value * (1 - 1e-9) } ?? 10 * power
    }

    /// Greatest decade that is not above a value, from 10^-12 to 10^18.
    private static func decade(below value: Double) -> Int { (-12...18).last { power($0) <= value } ?? -12 }

    /// The number nearest to a power of ten: products of 0.1 would be 0.00099….
    private static func power(_ decade: Int) -> Double { Double("1e\(decade)") ?? 1 }
}
