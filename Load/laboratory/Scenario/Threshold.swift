import FanfareModel

/// A bound on a named figure: `goal.last.p99 < 2.5 s`, `growth.memory < 5 %`.
package struct Threshold: Sendable, Equatable {
    package enum Relation: String, Sendable, CaseIterable {
        // Longer spellings first: `<` begins `<=`.
        case atMost = "<="
        case atLeast = ">="
        case below = "<"
        case above = ">"
        case equal = "="
    }

    /// The text as it was given, without surrounding spaces.
    package let expression: String
    package let figure: String
    package let relation: Relation
    /// Bound in the figure's own unit: seconds, bytes, counts, shares of one.
    package let limit: Double
    /// Unit as it was given, for messages; empty for a plain number.
    package let unit: String

    private static let units: [(name: String, factor: Double)] = [
        ("", 1), ("%", 0.01), ("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1), ("min", 60),
        ("h", 3600),
        ("k", 1e3), ("M", 1e6), ("G", 1e9), ("B", 1), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9),
    ]

    private static let timeUnits = ["ns", "us", "µs", "ms", "s", "min", "h"]

    private static let byteUnits = ["B", "KB", "MB", "GB"]
    private static let countUnits = ["", "k", "M", "G"]

    /// Returns the units of a figure and its kind for messages; `nil` for a figure of another program. A bound in a wrong unit would nearly
    /// always hold, or never: 5 is 500 %.
    private static func units(of figure: String) -> (names: [String], kind: String)? {
        switch figure.split(separator: ".").last {
        case "share": return (["%"], "a share")
        case "count", "owed": return (countUnits, "a count")
        default: break
        }
        if isTime(figure) { return (timeUnits, "a time") }
        switch figure.split(separator: ".").first {
        case "growth", "engine": return (["%"], "a share")
        case "memory": return (byteUnits, "a number of bytes")
        case "bytes": return (byteUnits + countUnits, "a number of bytes")
        case "pushes", "goals", "events", "updates", "rings", "connections", "activities", "arrivals":
            return (countUnits, "a count")
        default: return nil
        }
    }

    /// Returns `true` for a figure in seconds.
    package static func isTime(_ figure: String) -> Bool {
        let parts = figure.split(separator: ".")
        if ["turn", "cpu"].contains(parts.first) { return true }
        return parts.count > 1 && ["p50", "p90", "p99", "p999", "p9999"].contains(parts.last)
            || parts.last == "max" && (parts.count == 3 && parts.first != "pushes" && parts.first != "rings")
            || ["lateness.max", "run.whole", "restart.first"].contains(figure)
    }

    // MARK: Figures

    private static let series = Series.allCases.map(\.name) + ["all", "event", "generator"]
    private static let stages = Stage.allCases.map(\.name) + ["lateness"]
    private static let parts = ["p50", "p90", "p99", "p999", "p9999", "max", "count"]

    /// Figures beside those of the distributions.
    private static let others =
        [
            "sent", "accepted", "dead", "held", "throttled", "failed", "uncertain", "notProcessed", "conserved",
            "missing",
            "untracked", "repeated", "ends", "interrupted", "per.second", "per.second.max",
        ].map { "pushes.\($0)" }
        + [
            "core", "shards", "probes", "generator", "process", "apns-simulator", "apns-distance", "per.push",
            "per.push.shards", "per.push.p10", "per.push.p50",
        ].map { "cpu.\($0)" }
        + ["resident", "peak", "per.activity"].map { "memory.\($0)" }
        + ["state", "body", "per.push"].map { "bytes.\($0)" }
        + ["memory", "threads", "descriptors"].map { "growth.\($0)" } + parts.map { "lateness.\($0)" }
        + [
            "goals", "goals.missing", "goals.unfinished", "events", "events.per.second", "updates", "activities",
            "arrivals.missing", "connections", "connections.max", "connections.opened", "engine.full", "turn.core.max",
            "turn.shard.max",
            "rings.commands.max", "rings.arrivals.max", "run.whole", "restart.first",
        ]

    static let names =
        others
        + series.flatMap { series in
            stages.flatMap { stage in (parts + ["owed", "share"]).map { "\(series).\(stage).\($0)" } }
        }

    /// A misspelt name would be found when the run is over.
    static func isKnown(_ figure: String) -> Bool {
        guard figure.hasPrefix("kind/") else { return names.contains(figure) }
        // A topic kind's name is anybody's; what follows it is not.
        let words = figure.split(separator: ".").suffix(2)
        return words.count == 2 && stages.contains(String(words[words.startIndex]))
            && (parts + ["owed", "share"]).contains(String(words[words.startIndex + 1]))
    }

    /// - Throws: `ThresholdError` with the expected form.
    package init(_ text: String) throws(ThresholdError) {
        let form = "a threshold is a figure, < <= = >= or >, and a number with a unit, as in \"goal.last.p99 < 2.5 s\""
        let words = text.split(separator: " ").joined(separator: " ")
        guard let start = words.firstIndex(where: { "<>=".contains($0) }),
            let relation = Relation.allCases.first(where: { words[start...].hasPrefix($0.rawValue) })
        else { throw ThresholdError("\(text): \(form)") }
        let name = words[..<start].split(separator: " ").joined(separator: " ")
        let isName = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "./-".contains($0)) }
        guard !name.isEmpty, isName else { throw ThresholdError("\(text): \"\(name)\" is no figure; \(form)") }
        let rest = words[words.index(start, offsetBy: relation.rawValue.count)...].drop { $0 == " " }
        let digits = rest.prefix { $0.isASCII && ($0.isNumber || ".-+_".contains($0)) }
        let unit = String(rest.dropFirst(digits.count).drop { $0 == " " })
        guard let number = Double(digits.filter { $0 != "_" }), number.isFinite else {
            throw ThresholdError("\(text): \"\(rest)\" is no number; \(form)")
        }
        guard let factor = Threshold.units.first(where: { $0.name == unit })?.factor else {
            let names = Threshold.units.dropFirst().map(\.name)
            throw ThresholdError(
                "\(text): \(unit): unknown unit"
                    + (unit.nearest(of: names).map { "; did you mean \($0)?" }
                        ?? "; expected one of \(names.joined(separator: ", "))"))
        }
        if let (names, kind) = Threshold.units(of: name), !names.contains(unit) {
            let expected = names.map { $0.isEmpty ? "none" : $0 }.joined(separator: ", ")
            throw ThresholdError("\(text): \(name) is \(kind); expected a unit of \(expected)")
        }
        guard Threshold.isKnown(name) else {
            let advice = name.nearest(of: Threshold.names).map { "; did you mean \($0)?" } ?? ""
            throw ThresholdError("\(text): no run has a figure \(name)\(advice)")
        }
        expression = words
        figure = name
        self.relation = relation
        limit = number * factor
        self.unit = unit
    }

    /// Judges a run's figures. A figure that the run does not have breaks the threshold, so that a misspelt name never passes.
    package func judge(_ figures: [String: Double]) -> Verdict.Outcome {
        guard let value = figures[figure] else {
            let advice = figure.nearest(of: figures.keys.sorted()).map { "; did you mean \($0)?" } ?? ""
            return Verdict.Outcome(
                expression: expression, figure: figure, value: nil, limit: limit, holds: false,
                sentence: "\(expression): broken, because the run has no figure \(figure)\(advice)")
        }
        let holds = holds(value)
        return Verdict.Outcome(
            expression: expression, figure: figure, value: value, limit: limit, holds: holds,
            sentence: "\(expression): \(holds ? "holds" : "broken"), measured \(shown(value))")
    }

    private func holds(_ value: Double) -> Bool {
        switch relation {
        case .below: value < limit
        case .atMost: value <= limit
        case .above: value > limit
        case .atLeast: value >= limit
        case .equal: value == limit
        }
    }

    /// The value in the threshold's unit.
    private func shown(_ value: Double) -> String {
        let factor = Threshold.units.first { $0.name == unit }?.factor ?? 1
        if figure.hasSuffix(".share") { return value.asShare }
        return (value / factor).shortened + (unit.isEmpty ? "" : " \(unit)")
    }
}

package struct ThresholdError: Error, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}

extension Double {
    /// The share in per cent. A share below the whole is never told as 100 %, however little is missing.
    package var asShare: String {
        let percent = self * 100
        guard percent < 100, percent.shortened == "100" else { return "\(percent.shortened) %" }
        var factor = 100.0
        while (percent * factor).rounded(.down) / factor + 1.5 / factor > 100, factor < 1e9 { factor *= 10 }
        return "\((percent * factor).rounded(.down) / factor) %"
    }

    /// The number with four significant digits, for people.
    package var shortened: String {
        guard isFinite, self != 0 else { return isFinite ? "0" : "\(self)" }
        var digits = 3
        var magnitude = abs(self)
        while magnitude >= 10, digits > 0 {
            magnitude /= 10
            digits -= 1
        }
        while magnitude < 1, digits < 12 {
            magnitude *= 10
            digits += 1
        }
        var factor = 1.0
        for _ in 0..<digits { factor *= 10 }
        let rounded = (self * factor).rounded() / factor
        return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int64(rounded))" : "\(rounded)"
    }
}
