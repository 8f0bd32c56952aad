import FanfareDecisions
import FanfareModel
import FanfareReplay

extension LineupStory {
    var text: String {
        var lines: [String] = []
        for card in cards {
            if card.unseen > 0 {
                lines.append(
                    "    \(card.unseen) \(card.unseen == 1 ? "version" : "versions") of its topics: nothing it shows"
                )
            }
            lines += card.lines
        }
        lines.append("")
        lines.append(figures)
        return lines.joined(separator: "\n") + "\n"
    }

    private var figures: String {
        let alerts = cards.count { $0.alert != nil }
        let moves = cards.count { $0.news.isEmpty }
        var text = "\(cards.count) pushes: \(alerts) with an alert, \(moves) of the rotation's own"
        if let first = cards.first, let last = cards.last, last.at > first.at {
            let hours = Double((last.at - first.at).milliseconds) / 3_600_000
            text += "; \((Double(cards.count) / hours).fixed(1)) an hour"
        }
        text += "; the largest content state has \(cards.map(\.size).max() ?? .zero)"
        if let dearest = cards.compactMap(\.cost).max(by: { $0.bodySize < $1.bodySize }) {
            text += "\nthe largest push has \(dearest.text)"
        }
        return text
    }
}

extension LineupPreview.ShownCard {
    /// The time, the cause and the card; the row in the spotlight is marked. Text from the feed cannot move the cursor.
    var lines: [String] {
        // An alert that names several goals has a line for each.
        ([headline] + content.lines.map { "    \($0)" }).flatMap {
            $0.split(separator: "\n").map { Console.quoted(String($0)) }
        }
    }

    private var headline: String {
        let causes = news.map { record in
            "\(record.topic?.rawValue ?? "") \(record.origin == .timer ? "what waited" : record.kind)"
        }
        var text = "\(at)  \(causes.isEmpty ? "rotation" : causes.joined(separator: ", "))"
        if isEnd { text += ": end" }
        if let alert { text += "; alert “\(alert.title): \(alert.body)”" }
        return text
    }
}

extension ShownContent {
    /// A line for each topic; the spotlight's line also says what has just happened.
    fileprivate var lines: [String] {
        let leading = rows.map(\.compactLeading.count).max() ?? 0
        let trailing = rows.map(\.compactTrailing.count).max() ?? 0
        var lines = rows.indices.map { index in
            let row = rows[index]
            let short = row.compactLeading.padded(to: leading) + " | " + row.compactTrailing
            guard index == spotlight else { return "  \(short)" }
            guard let emphasised else { return "> \(short)" }
            return "> \(short.padded(to: leading + 3 + trailing))  \(emphasised)"
        }
        if more > 0 { lines.append("  and \(more) more") }
        return lines
    }

    /// Value that the layout emphasises, and the latest event of the state.
    private var emphasised: String? {
        var parts: [String] = []
        if let highlight, highlight != "lastEvent", let value = state[highlight]?.asText {
            parts.append("\(highlight) \(value)")
        }
        if let last = state["lastEvent"]?.stringValue { parts.append(last) }
        return parts.isEmpty ? nil : parts.joined(separator: "  ")
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
