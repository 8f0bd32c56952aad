/// Text of a page, in which every text from outside is escaped.
struct HTML: Sendable {
    private(set) var text = ""

    /// Appends markup of ours.
    mutating func markup(_ markup: String) { text += markup + "\n" }

    /// Appends an element with a text.
    mutating func element(_ tag: String, _ content: String, _ attributes: String = "") {
        let space = attributes.isEmpty ? "" : " "
        text += "<\(tag)\(space)\(attributes)>\(content.escapedHTML)</\(tag)>\n"
    }

    mutating func table(_ table: Table, caption: String) {
        text +=
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"\(caption.escapedHTML)\"><table>\n<thead><tr>"
        text += table.header.map { "<th scope=\"col\">\($0.escapedHTML)</th>" }.joined() + "</tr></thead>\n<tbody>\n"
        for row in table.rows {
            text += "<tr>"
            for (index, cell) in row.enumerated() {
                text += index == 0 ? "<th scope=\"row\">\(cell.escapedHTML)</th>" : "<td>\(cell.escapedHTML)</td>"
            }
            text += "</tr>\n"
        }
        text += "</tbody></table></div>\n"
    }
}

extension String {
    var escapedHTML: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            // Neither HTML nor XML has other control characters.
            case "\u{0}"..<"\u{20}" where scalar != "\n" && scalar != "\t": text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
