package import FanfareModel

/// Fields that updates have, and their values where a template has words or steps for them.
package struct SeenFields: Sendable {
    package private(set) var names: Set<String>
    /// Values of the fields that the template names some of.
    private(set) var values: [String: Set<String>]
    /// Maximum of values kept per field; a field with more has no words for all of them.
    private static let valuesMax = 256

    /// - Parameter names: fields that the system or a lineup adds.
    package init(_ names: Set<String>, for template: CardTemplate) {
        self.names = names
        values = template.named.mapValues { _ in [] }
    }

    package mutating func add(_ state: JSONObject) {
        for member in state.members {
            names.insert(member.key)
            guard let known = values[member.key], known.count < SeenFields.valuesMax else { continue }
            values[member.key]?.insert(member.value.asText)
        }
    }
}

extension CardTemplate {
    /// Values that the template names, by field: in its words and its steps.
    fileprivate var named: [String: Set<String>] {
        var named = words.merging(spokenWords) { $0.merging($1) { first, _ in first } }.mapValues { Set($0.keys) }
        for case .steps(let field, let values) in elements.values.map(\.form) {
            named[field, default: []].formUnion(values)
        }
        return named
    }

    /// Notes the template's typing errors: names that no update has, and that are nearly one that some update has.
    ///
    /// - Parameter isWhole: is `true` if no update follows.
    package func mistyped(amongst seen: SeenFields, isWhole: Bool) -> [Finding] {
        let fields = mistypedFields(amongst: seen.names) + mistypedValues(amongst: seen.values)
        return isWhole ? (fields + unmatched(by: seen)).distinct : fields
    }

    private func finding(_ element: String?, _ text: String) -> Finding {
        Finding(kind: .field, location: "template \(kind)", element: element, text: text)
    }

    /// Notes fields of the template that no update has and that are nearly named like one that some update has: typing errors, whose
    /// elements would never be shown.
    package func mistypedFields(amongst known: Set<String>) -> [Finding] {
        let rows = sections.values.flatMap(\.self) + spotlight
        let parts: [(name: String?, fields: Set<String>)] =
            elements.values.sorted { $0.name < $1.name }.map { ($0.name, $0.namedFields) }
            + [(nil, Set(spoken.flatMap(\.fields)).subtracting(elements.keys))]
            + [(nil, Set(rows.flatMap { $0.when.namedFields }))]
            + words.keys.sorted().map { ("words.\($0)", [$0]) }
            + spokenWords.keys.sorted().map { ("spokenWords.\($0)", [$0]) }
        return parts.flatMap { part in
            part.fields.subtracting(known).sorted().compactMap { field in
                field.nearest(of: known.sorted()).map { nearest in
                    finding(part.name, "no update has the field \(field); did you mean \(nearest)?")
                }
            }
        }
    }

    /// Notes values with words or a step that no update has, and that are nearly one that some update has and the template lacks.
    private func mistypedValues(amongst seen: [String: Set<String>]) -> [Finding] {
        named.sorted { $0.key < $1.key }.compactMap { field, names in
            let unnamed = (seen[field] ?? []).subtracting(names).sorted()
            let slips = names.subtracting(seen[field] ?? []).sorted().compactMap { name -> String? in
                // In values as short as `HT` and `FT` one letter makes another value.
                guard let nearest = name.nearest(of: unnamed),
                    name.count > 3 || name.lowercased() == nearest.lowercased()
                else { return nil }
                return "no update has the value \(name); did you mean \(nearest)?"
            }
            return slips.isEmpty ? nil : finding(field, slips.joined(separator: " "))
        }
    }

    /// Notes steps of which no update has one, and texts that are drawn without any of their fields.
    private func unmatched(by seen: SeenFields) -> [Finding] {
        elements.values.sorted { $0.name < $1.name }.compactMap { element in
            switch element.form {
            case .steps(let field, let values):
                guard let known = seen.values[field], !known.isEmpty, known.isDisjoint(with: values) else { return nil }
                let some = known.sorted().prefix(5).joined(separator: ", ")
                return finding(element.name, "no update has one of its values in \(field); updates have \(some)")
            case .text(let text):
                guard !text.fields.isEmpty, text.fields.isDisjoint(with: seen.names),
                    text.fields.isDisjoint(with: element.when.map(\.key))
                else { return nil }
                let rest = text.text(topic: TopicID(""), state: JSONObject()).split(separator: " ").joined(
                    separator: " ")
                guard !rest.isEmpty else { return nil }
                return finding(
                    element.name,
                    "no update has \(text.fields.sorted().joined(separator: " or ")), so “\(rest)” stands alone; expected "
                        + "`when`, or a field that updates have")
            default: return nil
            }
        }
    }
}

extension CardElement {
    /// Fields that the element needs: those of its texts, its colour and its conditions.
    fileprivate var namedFields: Set<String> {
        var fields = form.fields.union(short?.fields ?? []).union(when.namedFields)
        if case .field(let field) = color { fields.insert(field) }
        return fields.subtracting(when.optionalFields)
    }
}

extension [Condition] {
    fileprivate var namedFields: Set<String> { Set(map(\.key)).subtracting(optionalFields) }

    /// Fields that may be missing, as a condition says.
    fileprivate var optionalFields: Set<String> {
        Set(compactMap { if case .present = $0.test { $0.key } else { nil } })
    }
}
