package import FanfareModel

/// Reads one table, key by key. Missing and wrong values are `nil`; wrong ones are also noted as faults, and so is, at the end,
/// every key that was not read. So one pass finds all faults of a file.
package final class TableReader {
    /// Faults of a file, shared by its readers.
    package final class Faults {
        package private(set) var all: [TOMLError.Fault] = []
        package init() {}
        package func note(_ location: TOMLLocation, _ text: String) { all.append(TOMLError.Fault(location, text)) }
    }

    package let location: TOMLLocation
    package let members: [TOMLValue.Member]
    package let faults: Faults
    private var asked: [String] = []
    private var refused: [String] = []

    package init(_ members: [TOMLValue.Member], at location: TOMLLocation, _ faults: Faults) {
        self.members = members
        self.location = location
        self.faults = faults
    }

    /// Returns the value of a key, of any type.
    package func take(_ key: String) -> TOMLValue? {
        asked.append(key)
        return members.first { $0.key == key }?.value
    }

    /// Returns the value of a key, as converted by `read`, which returns `nil` for a value that is not `expected`.
    package func take<Value>(_ key: String, _ expected: String, _ read: (TOMLValue) -> Value?) -> Value? {
        guard let value = take(key) else { return nil }
        return self.read(value, for: key, expected, read)
    }

    package func read<Value>(
        _ value: TOMLValue, for key: String, _ expected: String, _ read: (TOMLValue) -> Value?
    ) -> Value? {
        if let result = read(value) { return result }
        faults.note(value.location, "\(key) is \(value.name); expected \(expected)")
        return nil
    }

    /// Notes a fault for a key that is no longer supported.
    package func refuse(_ key: String, _ advice: String) {
        guard let member = members.first(where: { $0.key == key }) else { return }
        refused.append(key)
        faults.note(member.keyLocation, "\(key): \(advice)")
    }

    /// Notes a fault for each key that was not read.
    package func finish() {
        for member in members where !asked.contains(member.key) && !refused.contains(member.key) {
            let advice = member.key.nearest(of: asked).map { "did you mean \($0)?" }
            faults.note(
                member.keyLocation,
                "\(member.key): unknown key; \(advice ?? "expected one of \(asked.sorted().joined(separator: ", "))")")
        }
    }

    // MARK: - Kinds of values

    package func text(_ key: String) -> String? { take(key, "text in quotes", \.text) }
    package func flag(_ key: String) -> Bool? { take(key, "true or false", \.boolean) }

    package func whole(_ key: String, _ range: ClosedRange<Int>) -> Int? {
        take(key, "a whole number from \(range.lowerBound) to \(range.upperBound)") { value in
            guard case .integer(let whole) = value.content, let number = Int(exactly: whole), range.contains(number)
            else { return nil }
            return number
        }
    }

    package func duration(_ key: String, _ range: ClosedRange<Duration>) -> Duration? {
        take(key, TableReader.expected(range)) { $0.duration(in: range) }
    }

    package func choice<Value>(_ key: String, of choices: [(name: String, value: Value)]) -> Value? {
        take(key, TableReader.oneOf(choices.map(\.name))) { value in
            choices.first { $0.name == value.text }?.value
        }
    }

    package func template(_ key: String) -> Template? {
        guard let value = take(key), let source = read(value, for: key, "text in quotes", \.text) else { return nil }
        do {
            return try Template(parsing: source)
        } catch {
            faults.note(value.location, "\(key): \(error); expected text such as \"{home} {homeScore}\"")
            return nil
        }
    }

    package func texts(_ key: String) -> Set<String>? {
        take(key, "an array of texts") { value in
            guard case .array(let values) = value.content else { return nil }
            let texts = values.compactMap(\.text)
            return texts.count == values.count ? Set(texts) : nil
        }
    }

    /// Returns `true` if all required keys are present; otherwise notes the missing ones.
    package func has(_ required: [String]) -> Bool {
        let missing = required.filter { key in !members.contains { $0.key == key } }
        if !missing.isEmpty {
            faults.note(
                location, "\(missing.joined(separator: ", ")) missing; expected \(required.joined(separator: ", "))")
        }
        return missing.isEmpty
    }

    package func has(_ required: String...) -> Bool { has(required) }

    /// Returns conditions such as `{ status = "arriving", stops = { atLeast = 1, atMost = 3 } }`, in the order of the file.
    package func conditions(_ key: String) -> [Condition] {
        guard let conditions = table(key) else { return [] }
        if conditions.members.isEmpty {
            faults.note(conditions.location, "\(key) is empty; expected a condition, or no \(key)")
        }
        return conditions.members.flatMap { member in
            conditions.tests(member).map { Condition(member.key, $0) }
        }
    }

    private func tests(_ member: TOMLValue.Member) -> [Condition.Test] {
        if let tests = member.value.tests { return tests }
        faults.note(
            member.value.location,
            "\(member.key) is \(member.value.name); expected a value, an array of values, { atLeast = number }, "
                + "{ atMost = number }, { present = true }, or a table of several of them")
        return []
    }

    /// Returns a reader for the table of a key; the caller must call its `finish()`.
    package func table(_ key: String) -> TableReader? {
        guard let value = take(key) else { return nil }
        return table(value, for: key)
    }

    package func table(_ value: TOMLValue, for key: String) -> TableReader? {
        guard let members = read(value, for: key, "a table", \.members) else { return nil }
        return TableReader(members, at: value.location, faults)
    }

    package static func expected(_ range: ClosedRange<Duration>) -> String {
        "a duration from \(range.lowerBound.inRules) to \(range.upperBound.inRules), such as \"90 s\" or \"5 min\""
    }

    package static func oneOf(_ names: [String]) -> String {
        (names.count > 1 ? "one of " : "") + names.map { "\"\($0)\"" }.joined(separator: ", ")
    }
}

extension TOMLValue {
    package var text: String? { if case .string(let text) = content { text } else { nil } }
    package var boolean: Bool? { if case .boolean(let value) = content { value } else { nil } }
    package var members: [Member]? { if case .table(let members) = content { members } else { nil } }

    package func duration(in range: ClosedRange<Duration>) -> Duration? {
        guard let duration = text.flatMap(Duration.init(inRules:)), range.contains(duration) else { return nil }
        return duration
    }

    /// Tests of a condition's value, which must all hold: a value, an array of values of which the field has one, a table of tests, or an
    /// array of such tables; `nil` for anything else.
    fileprivate var tests: [Condition.Test]? {
        if let scalar { return [.oneOf([scalar])] }
        if let choice, choice != .oneOf([]) { return [choice] }
        guard case .array(let tables) = content, !tables.isEmpty else { return namedTests }
        var tests: [Condition.Test] = []
        for table in tables {
            guard let named = table.namedTests else { return nil }
            tests += named
        }
        return tests
    }

    /// Tests of a table such as `{ atLeast = 1, atMost = 3 }`; `nil` for anything else.
    private var namedTests: [Condition.Test]? {
        guard let members, !members.isEmpty else { return nil }
        let tests = members.compactMap(\.test)
        return tests.count == members.count ? tests : nil
    }

    /// Test for one of an array's values; `nil` for anything else. No value passes the test of an empty array.
    fileprivate var choice: Condition.Test? {
        guard case .array(let values) = content else { return nil }
        let scalars = values.compactMap(\.scalar)
        return scalars.count == values.count ? .oneOf(scalars) : nil
    }

    /// Value that a field of a content state can be compared with.
    package var scalar: JSONValue? {
        switch content {
        case .string(let text): .string(text)
        case .integer(let value): .int(value)
        case .number(let value): value.isFinite ? .double(value) : nil
        case .boolean(let value): .bool(value)
        case .date, .array, .table: nil
        }
    }
}

extension TOMLValue.Member {
    /// Test with its name, such as `atLeast = 1`; `nil` for anything else.
    fileprivate var test: Condition.Test? {
        switch key {
        case "atLeast": if let bound = value.scalar?.doubleValue { return .atLeast(bound) }
        case "atMost": if let bound = value.scalar?.doubleValue { return .atMost(bound) }
        case "present": if let present = value.boolean { return .present(present) }
        case "oneOf": return value.choice
        default: break
        }
        return nil
    }
}

/// Durations in a rules file: a whole number and a unit.
extension Duration {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1),
    ]

    package init?(inRules text: String) {
        let digits = text.prefix { ("0"..."9").contains($0) }
        let unit = text.dropFirst(digits.count).drop { $0 == " " }
        // No rule is longer than some months, and ten digits cannot overflow.
        guard digits.count <= 10, let count = Int64(digits),
            let milliseconds = Duration.units.first(where: { $0.name == unit })?.milliseconds
        else { return nil }
        self = .milliseconds(count * milliseconds)
    }

    /// The duration in the largest unit that leaves no fraction.
    package var inRules: String {
        let milliseconds = self.milliseconds
        guard milliseconds > 0, let unit = Duration.units.first(where: { milliseconds % $0.milliseconds == 0 }) else {
            return "\(milliseconds) s"
        }
        return "\(milliseconds / unit.milliseconds) \(unit.name)"
    }
}
