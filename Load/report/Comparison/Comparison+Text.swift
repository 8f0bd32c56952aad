import Laboratory

extension Comparison {
    /// A table for a terminal, and a sentence for each figure.
    package var lines: [String] {
        let runs = isPaired ? "\(runsA) pairs of runs that took turns" : "\(runsA) runs of A, \(runsB) of B"
        var lines = [
            "B beside A, \(runs); \(((1 - Comparison.error) * 100).shortened) % interval of all ratios together"
        ]
        if !isPaired {
            lines.append(
                "The runs did not take turns: a drift of the machine from A's runs to B's counts as a difference.")
        }
        let width = (rows.map(\.figure.count).max() ?? 0) + 2
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(1, width - text.count))
        }
        lines.append("")
        lines.append(padded("", width) + padded("A", 12) + padded("B", 12) + padded("ratio", 24) + "result")
        for row in rows {
            let unit = FigureUnit(figure: row.figure)
            let ratio =
                row.ratio.map { "\($0.estimate.ratioText) (\($0.low.ratioText) to \($0.high.ratioText))" } ?? "none"
            lines.append(
                padded(row.figure, width) + padded(unit.text(row.medianA), 12) + padded(unit.text(row.medianB), 12)
                    + padded(ratio, 24) + row.sentence)
        }
        return lines
    }
}

extension Comparison.Row {
    package var sentence: String {
        guard let ratio else {
            if case .none(let reason) = call { return "not compared: \(reason)" }
            return "no difference: all values are equal"
        }
        let percent = (abs(ratio.estimate - 1) * 100).shortenedTo(2)
        let change = "\(percent) % \(ratio.estimate > 1 ? "more" : "less")"
        switch call {
        case .same:
            // A difference is seen when it moves the interval beyond 1.
            let reach = max(ratio.high / ratio.estimate, ratio.estimate / ratio.low) - 1
            let seen = max(reach, Comparison.negligible) * 100
            return "no difference; one of \(seen.shortenedTo(2)) % would be seen"
        case .better: return "better: \(change)"
        case .worse: return "WORSE: \(change)"
        case .different: return "different: \(change)"
        case .none(let reason): return "not compared: \(reason)"
        }
    }
}

extension Double {
    /// Three digits after the point.
    var ratioText: String {
        let thousandths = Int64((Swift.min(Swift.max(self, 0), 1e12) * 1000).rounded())
        let digits = String(thousandths % 1000)
        return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - digits.count) + digits
    }

    /// The number with so many significant digits, and without an exponent.
    func shortenedTo(_ digits: Int) -> String {
        guard isFinite, self != 0 else { return isFinite ? "0" : "\(self)" }
        var factor = 1.0
        var magnitude = abs(self)
        while magnitude < 1, factor < 1e12 {
            magnitude *= 10
            factor *= 10
        }
        for _ in 1..<max(2, digits) where magnitude < 100 {
            magnitude *= 10
            factor *= 10
        }
        return ((self * factor).rounded() / factor).shortened
    }
}
