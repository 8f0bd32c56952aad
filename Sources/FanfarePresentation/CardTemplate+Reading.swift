import FanfareModel
package import FanfareTOML

extension CardTemplate {
    /// Name of the template for activities that show several topics.
    package static let lineup = "lineup"

    /// Reads a template file.
    ///
    /// - Throws: `TOMLError` with every fault, each with line and column.
    package init(file path: String) throws(TOMLError) {
        try self.init(toml: try TOMLValue.contents(ofFile: path), file: path)
    }

    /// - Parameter file: name of the file in messages.
    package init(toml bytes: [UInt8], file: String) throws(TOMLError) {
        let document = try TOMLValue.document(bytes, name: file)
        let faults = TableReader.Faults()
        let table = TableReader(document.members ?? [], at: .start, faults)
        kind = table.text("kind") ?? ""
        _ = table.has("kind", "spoken", "elements", "compact", "minimal", "expanded", "lockScreen")
        spoken = table.templates("spoken")
        spokenWords = table.words("spokenWords")
        words = table.words("words")
        accent = table.color("accent") ?? Color(red: 1, green: 0.8, blue: 0)
        lightAccent = table.color("lightAccent")
        background = table.color("background")
        isRightToLeft =
            table.choice("direction", of: [("leftToRight", false), ("rightToLeft", true)]) ?? false
        guard let elements = CardElement.all(in: table) else { throw TOMLError(name: file, faults: faults.all) }
        self.elements = elements
        var sections: [Section: [CardRow]] = [:]
        for section in Section.allCases {
            guard let part = table.table(section.rawValue) else { continue }
            switch section {
            case .compact, .minimal: sections[section] = [part.row(of: elements, allowing: section.groups)]
            case .expanded, .lockScreen, .small: sections[section] = part.rows("rows", of: elements)
            }
            part.finish()
        }
        self.sections = sections
        if let part = table.table("spotlight") {
            spotlight = part.rows("rows", of: elements)
            part.finish()
        } else {
            spotlight = []
        }
        table.finish()
        guard faults.all.isEmpty else { throw TOMLError(name: file, faults: faults.all) }
    }
}

extension CardTemplate.Section {
    fileprivate var groups: [String] { self == .minimal ? ["center"] : ["leading", "trailing"] }
}

extension CardElement {
    /// Elements of a template, at most: each surface is laid out with all of its own.
    private static let countMax = 256

    /// - Returns: `nil` for too many elements, of which none is read.
    fileprivate static func all(in table: TableReader) -> [String: CardElement]? {
        guard let all = table.table("elements") else { return [:] }
        guard all.members.count <= countMax else {
            table.faults.note(all.location, "elements: \(all.members.count) of them; expected \(countMax) at most")
            return nil
        }
        var elements: [String: CardElement] = [:]
        var readers: [String: TableReader] = [:]
        for member in all.members {
            guard let reader = all.table(member.value, for: member.key) else { continue }
            elements[member.key] = CardElement(member, reader)
            readers[member.key] = reader
            reader.finish()
        }
        for element in elements.values {
            if let other = element.unlike { readers[element.name]?.check(other, "unlike", of: elements) }
        }
        return elements
    }

    private static let forms = ["text", "timer", "progress", "from", "steps", "icon"]

    private init?(_ member: TOMLValue.Member, _ table: TableReader) {
        name = member.key
        about = table.text("about") ?? member.key
        when = table.conditions("when")
        unlike = table.text("unlike")
        style = table.choice("style", of: TextStyle.allCases.map { ($0.rawValue, $0) }) ?? .body
        color = table.colorChoice("color") ?? .primary
        short = table.template("short")
        lines = table.whole("lines", 1...4) ?? 1
        shrink = Double(table.whole("shrink", 50...100) ?? 100) / 100
        let own = table.texts("highlights")
        let given = CardElement.forms.filter { form in table.members.contains { $0.key == form } }
        guard given.count == 1 else {
            for form in given { _ = table.take(form) }
            table.faults.note(
                member.keyLocation,
                "\(member.key): expected exactly one of \(CardElement.forms.joined(separator: ", "))")
            return nil
        }
        guard let form = CardElement.form(given[0], table) else { return nil }
        self.form = form
        highlights = own ?? form.fields
    }

    private static func form(_ name: String, _ table: TableReader) -> Form? {
        switch name {
        case "text": return table.template("text").map(Form.text)
        case "timer":
            let down = table.choice("counts", of: [("up", false), ("down", true)]) ?? false
            let plus = table.duration("plus", .zero ... .seconds(86_400)) ?? .zero
            let unit = table.choice("unit", of: CardTimer.Unit.allCases.map { ($0.rawValue, $0) }) ?? .clock
            return table.text("timer").map {
                .timer(CardTimer(field: $0, countsDown: down, plus: plus, unit: unit))
            }
        case "progress": return table.text("progress").map(Form.progress)
        case "from":
            guard table.has("from", "until"), let from = table.text("from"), let until = table.text("until") else {
                return nil
            }
            return .interval(from: from, until: until)
        case "steps":
            guard table.has("steps", "values"), let field = table.text("steps"), let values = table.list("values")
            else { return nil }
            return .steps(field, values: values)
        default:
            let size = Double(table.whole("size", 8...48) ?? 20)
            let icon = table.choice("icon", of: Icon.allCases.map { ($0.rawValue, $0) })
            return icon.map { .icon($0, size: size) }
        }
    }
}

extension CardElement.Form {
    /// Fields that the element shows.
    var fields: Set<String> {
        switch self {
        case .text(let template): template.fields
        case .timer(let timer): [timer.field]
        case .progress(let field): [field]
        case .interval(let from, let until): [from, until]
        case .steps(let field, _): [field]
        case .icon: []
        }
    }
}

extension TableReader {
    /// Returns tables of words, by field: `words.period.HT = "Half-time"`.
    fileprivate func words(_ key: String) -> [String: [String: String]] {
        guard let fields = table(key) else { return [:] }
        var words: [String: [String: String]] = [:]
        for field in fields.members {
            guard let table = fields.table(field.value, for: field.key) else { continue }
            for member in table.members { words[field.key, default: [:]][member.key] = table.text(member.key) }
        }
        return words
    }

    /// Returns an array of texts, in the order of the file.
    fileprivate func list(_ key: String) -> [String]? {
        take(key, "an array of texts") { value in
            guard case .array(let values) = value.content else { return nil }
            let texts = values.compactMap(\.text)
            return texts.count == values.count && !texts.isEmpty ? texts : nil
        }
    }

    /// Returns a name, or an array of them.
    fileprivate func names(_ key: String) -> [String]? {
        take(key, "an element's name, or an array of them") { value in
            guard case .array(let values) = value.content else { return value.text.map { [$0] } }
            let texts = values.compactMap(\.text)
            return texts.count == values.count && !texts.isEmpty ? texts : nil
        }
    }

    /// Returns a template, or an array of them.
    fileprivate func templates(_ key: String) -> [Template] {
        guard let value = take(key) else { return [] }
        var sources = [value]
        if case .array(let parts) = value.content { sources = parts }
        return sources.compactMap { source in
            guard let text = read(source, for: key, "text in quotes, or an array of texts", \.text) else { return nil }
            do {
                return try Template(parsing: text)
            } catch {
                faults.note(source.location, "\(key): \(error); expected text such as \"{home} {homeScore}\"")
                return nil
            }
        }
    }

    fileprivate func color(_ key: String) -> Color? {
        take(key, "a colour such as \"#1C1C1E\"") { $0.text.flatMap(Color.init(hex:)) }
    }

    fileprivate func colorChoice(_ key: String) -> ColorChoice? {
        take(key, "\"primary\", \"secondary\", \"accent\", a colour such as \"#1C1C1E\", or a field in braces") {
            switch $0.text {
            case "primary": return .primary
            case "secondary": return .secondary
            case "accent": return .accent
            case let text? where text.hasPrefix("{") && text.hasSuffix("}"):
                let field = text.dropFirst().dropLast()
                return field.isEmpty || field.contains { "{}".contains($0) } ? nil : .field(String(field))
            case let text?: return Color(hex: text).map(ColorChoice.fixed)
            case nil: return nil
            }
        }
    }

    fileprivate func rows(_ key: String, of elements: [String: CardElement]) -> [CardRow] {
        guard has(key), let value = take(key) else { return [] }
        guard case .array(let rows) = value.content else {
            faults.note(value.location, "\(key) is \(value.name); expected an array of rows")
            return []
        }
        return rows.compactMap { row in
            guard let reader = table(row, for: "a row") else { return nil }
            defer { reader.finish() }
            return reader.row(of: elements, allowing: ["leading", "center", "trailing"])
        }
    }

    fileprivate func row(of elements: [String: CardElement], allowing groups: [String]) -> CardRow {
        let when = conditions("when")
        if groups.count == 3, flag("spotlight") == true { return CardRow(content: .spotlight, when: when) }
        if groups.count == 3, members.contains(where: { $0.key == "others" }), let cell = names("others") {
            for element in cell { check(element, "others", of: elements) }
            let columns = whole("columns", 1...6) ?? 1
            return CardRow(content: .others(cell, columns: columns), when: when)
        }
        func group(_ name: String) -> [String] {
            guard groups.contains(name), let names = list(name) else { return [] }
            for element in names { check(element, name, of: elements) }
            return names
        }
        let content = CardRow.Content.groups(
            leading: group("leading"), center: group("center"), trailing: group("trailing"))
        if case .groups(let leading, let center, let trailing) = content,
            leading.isEmpty, center.isEmpty, trailing.isEmpty, !members.contains(where: { groups.contains($0.key) })
        {
            faults.note(location, "nothing stands here; expected \(groups.joined(separator: ", "))")
        }
        return CardRow(content: content, when: when)
    }

    fileprivate func check(_ element: String, _ key: String, of elements: [String: CardElement]) {
        // An element with a fault of its own has been refused already.
        guard elements[element] == nil, let value = members.first(where: { $0.key == key })?.value else { return }
        let advice = element.nearest(of: elements.keys.sorted()).map { "; did you mean \($0)?" } ?? ""
        faults.note(value.location, "\(element): there is no such element\(advice)")
    }
}
