public import FanfareDecisions
public import FanfareModel
import FanfareTOML

extension Rules {
    /// The rules as a rules file. It reads back as rules that decide the same, except for parts that no file has: `limits`, and a program's own
    /// reducer, in whose place stands a comment. A built-in kind that `kinds` lacks reads back with its built-in rules, and durations have whole
    /// milliseconds. No initialiser reads the text if the rules have a value that a file may not have: an interval beyond its range, a number that is
    /// not finite, or an alert without a title where a file needs one. The falls of an occasion come before its rises.
    ///
    /// - Complexity: O(n log n), n being the size of the text.
    public var toml: String {
        kinds.sorted { $0.key.rawValue < $1.key.rawValue }.map { $0.value.toml(kind: $0.key) }.joined(separator: "\n")
            + (kinds.isEmpty ? "" : "\n") + other.toml(kind: .generic) + "\n" + lineups.toml
    }
}

extension TopicRules {
    /// Returns the rules as the table of one kind in a rules file, with every key that has a value.
    ///
    /// - Parameter kind: name of the table and of its subtables; `.generic` for the rules of all other kinds.
    /// - Complexity: O(n log n), n being the size of the text.
    public func toml(kind: TopicKind) -> String {
        let kind = key(kind.rawValue)
        var lines = ["[\(kind)]"]
        lines.append(
            NamedReducer.name(of: reducer).map { "reducer = \(quoted($0))" }
                ?? ReducerNote(of: reducer).line)
        lines += [
            "minimumInterval = \(quoted(pace.minimumInterval.inRules))", "staleAfter = \(pace.staleAfter.inRules)",
            "dismissal = \(lifetime.dismissal.inRules)",
            "endsAfterSilence = \(quoted(lifetime.endsAfterSilence.inRules))",
            "beginsWithin = \(quoted(lifetime.beginsWithin.inRules))",
            "forgetAfter = \(quoted(lifetime.forgetAfter.inRules))",
            "reopens = \(quoted(lifetime.reopens.rawValue))", "lateAfter = \(quoted(pace.lateAfter.inRules))",
            "atLimit = \(quoted(lifetime.renews ? "renew" : "end"))",
            "priority = \(priority.rawValue)",
        ]
        if let relevance { lines.append("relevance = \(relevance)") }
        lines.append("attributesReserve = \(content.attributesReserve.bytes)")
        if let link = content.derived.deepLink { lines.append("deepLink = \(quoted(link.description))") }
        if !lifetime.beginsWhen.isEmpty { lines.append("beginsWhen = \(inRules(lifetime.beginsWhen))") }
        if !lifetime.endsWhen.isEmpty { lines.append("endsWhen = \(inRules(lifetime.endsWhen))") }
        if let scheduledAt { lines.append("scheduledAt = \(quoted(scheduledAt))") }
        let counting = reducer as? CountingReducer
        if let facts = counting?.facts, !facts.isEmpty { lines.append("facts = \(array(facts))") }
        lines += [
            "buckets.ordinary = { \(alerts.ordinary.inRules) }", "buckets.reserved = { \(alerts.reserved.inRules) }",
            "requestedAlerts = { \(alerts.requested.inRules) }",
        ]
        for (name, rule) in content.fields.sorted(by: { $0.key < $1.key }) {
            lines.append("fields.\(key(name)) = \(rule.inRules)")
        }
        for (name, counter) in (counting?.counters ?? [:]).sorted(by: { $0.key < $1.key }) {
            var members = ["fact = \(quoted(counter.fact))"]
            if !counter.where.isEmpty { members.append("where = \(inRules(counter.where))") }
            if let by = counter.by { members.append("by = \(quoted(by))") }
            lines.append("counters.\(key(name)) = { \(members.joined(separator: ", ")) }")
        }
        for (name, latest) in (counting?.latest ?? [:]).sorted(by: { $0.key < $1.key }) {
            lines.append("latest.\(key(name)) = { facts = \(array(latest.facts)), value = \(quoted(latest.value)) }")
        }
        lines += content.derived.lines
        for (occasion, rule) in occasions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            lines += ["", "[\(kind).occasions.\(key(occasion.rawValue))]"] + rule.lines
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension OccasionRule {
    fileprivate var lines: [String] {
        var lines: [String] = []
        if !when.isEmpty { lines.append("when = \(inRules(when))") }
        let (rises, falls) = (shifts.filter { $0.by > 0 }, shifts.filter { !($0.by > 0) })
        if !falls.isEmpty { lines.append("falls = \(falls.distances)") }
        if !rises.isEmpty { lines.append("rises = \(rises.distances)") }
        lines.append("essential = \(essential)")
        if let droppableAfter { lines.append("droppableAfter = \(quoted(droppableAfter.inRules))") }
        // A file has falls before rises, and without a highlight the first of all counts.
        let first = shifts.first.flatMap { $0.by > 0 && !falls.isEmpty ? $0.key : nil }
        if let highlight = highlight ?? first { lines.append("highlight = \(quoted(highlight))") }
        if let relevance { lines.append("relevance = \(relevance)") }
        if let alert { lines.append("alert = { \(alert.inRules) }") }
        return lines
    }
}

extension [FieldShift] {
    /// Table of the distances, with each field once: of several distances of a field, the greatest one is that of all.
    fileprivate var distances: String {
        var greatest: [(key: String, distance: Double)] = []
        for shift in self {
            let distance = shift.by > 0 ? shift.by : -shift.by
            if let index = greatest.firstIndex(where: { $0.key == shift.key }) {
                greatest[index].distance = Swift.max(greatest[index].distance, distance)
            } else {
                greatest.append((key: shift.key, distance: distance))
            }
        }
        let members = greatest.map { "\(FanfareRules.key($0.key)) = \(JSONValue.double($0.distance).inRules)" }
        return "{ " + members.joined(separator: ", ") + " }"
    }
}

extension AlertRule {
    fileprivate var inRules: String {
        let name = AlertRule.names[`class`, default: ""]
        var members = ["class = \(quoted(name))", bucket.inRules, "freshFor = \(quoted(freshFor.inRules))"]
        if let words {
            members.append("title = \(quoted(words.title.description))")
            if !words.body.description.isEmpty { members.append("body = \(quoted(words.body.description))") }
            if let sound = words.sound { members.append("sound = \(quoted(sound))") }
        }
        return members.joined(separator: ", ")
    }

    private static let names = Dictionary(uniqueKeysWithValues: classes.map { ($0.value, $0.name) })
}

extension DerivedFields {
    fileprivate var lines: [String] {
        let forms = [("compactLeading", compactLeading), ("compactTrailing", compactTrailing), ("minimal", minimal)]
        var lines = forms.compactMap { name, form in form.map { "short.\(name) = \(quoted($0.description))" } }
        if !lines.isEmpty { lines.append("short.width = \(widthMax)") }
        lines += words.sorted { $0.key < $1.key }.map { "short.words.\(quoted($0.key)) = \(quoted($0.value))" }
        if let spoken {
            lines += ["spoken.text = \(quoted(spoken.description))", "spoken.bytes = \(spokenSizeMax.bytes)"]
            lines += spokenWords.sorted { $0.key < $1.key }
                .map { "spoken.words.\(quoted($0.key)) = \(quoted($0.value))" }
        }
        return lines
    }
}

extension FieldRule {
    fileprivate var inRules: String {
        switch self {
        case .ignored: return quoted("ignored")
        case .quantised(let quantiser):
            let form = quantiser.parts == 100 ? "percent" : "step"
            return "{ \(form) = \(quantiser.step), hysteresis = \(quantiser.hysteresis) }"
        case .redacted(let redaction):
            let form =
                switch redaction.form {
                case .removed: quoted("removed")
                case .initial: quoted("initial")
                case .summary(let text): "{ summary = \(quoted(text)) }"
                }
            let unless = redaction.unless.isEmpty ? "" : ", unless = \(FanfareRules.inRules(redaction.unless))"
            return "{ redact = \(form)\(unless) }"
        }
    }
}

extension StaleAfter {
    fileprivate var inRules: String {
        switch self {
        case .fixed(let duration): quoted(duration.inRules)
        case .rhythm(let times, let bounds):
            "{ rhythm = \(times), atLeast = \(quoted(bounds.atLeast.inRules)), "
                + "atMost = \(quoted(bounds.atMost.inRules)) }"
        }
    }
}

extension Dismissal {
    fileprivate var inRules: String {
        switch self {
        case .proportional: quoted("proportional")
        case .immediate: quoted("immediate")
        case .after(let duration): quoted(duration.inRules)
        case .at(let date): quoted("at \(date)")
        }
    }
}

/// Returns a table with each field once, because TOML takes no key twice. All tests of a field stand where its first one does.
private func inRules(_ conditions: [Condition]) -> String {
    var tests: [(key: String, tests: [Condition.Test])] = []
    for condition in conditions {
        if let index = tests.firstIndex(where: { $0.key == condition.key }) {
            tests[index].tests.append(condition.test)
        } else {
            tests.append((key: condition.key, tests: [condition.test]))
        }
    }
    return "{ " + tests.map { "\(key($0.key)) = \($0.tests.inRules)" }.joined(separator: ", ") + " }"
}

extension [Condition.Test] {
    /// Tests of one field, which must all hold.
    fileprivate var inRules: String {
        if count == 1, let value = self[0].value { return value }
        let members = map(\.member)
        // Two tests of one name are two tables.
        if Set(map(\.name)).count < count { return "[{ " + members.joined(separator: " }, { ") + " }]" }
        return "{ " + members.joined(separator: ", ") + " }"
    }
}

extension Condition.Test {
    /// Short form of a test for one value or one of several; `nil` for others.
    fileprivate var value: String? {
        switch self {
        case .oneOf(let values) where values.count == 1: values[0].inRules
        case .oneOf(let values) where !values.isEmpty: array(values)
        default: nil
        }
    }

    /// Name of the test in a table.
    fileprivate var name: String {
        switch self {
        case .oneOf: "oneOf"
        case .atLeast: "atLeast"
        case .atMost: "atMost"
        case .present: "present"
        }
    }

    /// The test with its name, as a table has it.
    fileprivate var member: String {
        switch self {
        case .oneOf(let values): "\(name) = \(array(values))"
        case .atLeast(let bound), .atMost(let bound): "\(name) = \(JSONValue.double(bound).inRules)"
        case .present(let isPresent): "\(name) = \(isPresent)"
        }
    }
}

private func array(_ texts: Set<String>) -> String { array(texts.sorted().map { JSONValue.string($0) }) }

private func array(_ values: [JSONValue]) -> String { "[" + values.map(\.inRules).joined(separator: ", ") + "]" }

/// Returns a key, in quotes if it needs them.
private func key(_ name: String) -> String {
    let isBare =
        !name.isEmpty
        && name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    return isBare ? name : quoted(name)
}
