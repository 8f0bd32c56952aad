import FanfareModel

/// Design of the cards of a topic kind: named elements, and the surfaces that show them.
package struct CardTemplate: Sendable {
    /// Part of a template that one or more surfaces show.
    enum Section: String, Sendable, CaseIterable { case compact, minimal, expanded, lockScreen, small }

    /// Topic kind, or `lineup`.
    package let kind: String
    let elements: [String: CardElement]
    let sections: [Section: [CardRow]]
    /// Rows for a topic in a lineup's spotlight.
    let spotlight: [CardRow]
    /// Replacements for values, by field.
    let words: [String: [String: String]]
    /// Spoken form, part by part, for content states without `spoken`.
    let spoken: [Template]
    let spokenWords: [String: [String: String]]
    let accent: Color
    /// Accent on a light background; `nil`: `accent`.
    let lightAccent: Color?
    /// Is `true` for the card of an app in a language that is written from right to left: leading is on the right.
    let isRightToLeft: Bool
    /// Background of the Lock Screen presentation; `nil`: the system's (rule P4).
    let background: Color?

    /// Rows of a section. A surface that has none of its own shows the compact pair.
    func rows(of section: Section) -> [CardRow] { sections[section] ?? sections[.compact] ?? [] }

    /// Rows of a topic in a lineup's spotlight.
    func spotlightRows(in section: Section) -> [CardRow] {
        if section == .small { return rows(of: .small) }
        return spotlight.isEmpty ? rows(of: .lockScreen) : spotlight
    }

    /// Spoken form (rule P3): the rules' own words, else the template's. A part that lacks a field is not said, nor is a repeated one. A timer that
    /// is shown is a field of its element's name.
    package func spoken(_ content: CardContent) -> String {
        let said = words(of: content)
        let saysStale = spoken.contains { $0.fields.contains(CardContent.staleField) }
        return content.isStale && !said.isEmpty && !saysStale ? said + ", not up to date" : said
    }

    private func words(of content: CardContent) -> String {
        if let own = content.state["spoken"]?.stringValue, !own.isEmpty { return own }
        var state = content.state.worded(words.merging(spokenWords) { shown, said in shown.merging(said) { $1 } })
        for (name, element) in elements {
            guard case .timer(let timer) = element.form else { continue }
            if element.isShown(in: content.state), !content.isOver {
                state[name] = timer.spoken(in: content.state, at: content.at).map(JSONValue.string)
            } else if name == timer.field {
                // People do not want to hear the date itself.
                state[name] = nil
            }
        }
        let parts = spoken.filter { $0.fields.allSatisfy { state[$0].map { $0.asText != "" } ?? false } }
        // Words without a field say nothing of the state.
        guard parts.contains(where: { !$0.fields.isEmpty }) else { return "" }
        var said: [String] = []
        for part in parts.map({ $0.text(topic: content.topic, state: state) })
        where !said.contains(where: { $0.lowercased() == part.lowercased() }) {
            said.append(part)
        }
        return said.joined(separator: ", ")
    }

    /// Spoken form of a lineup: by its own template, whose field `spotlight` is the inner one's spoken form.
    func spoken(_ content: CardContent, inner: CardTemplate) -> String {
        var content = content
        let spotlight = inner.words(of: content)
        // A number of other topics alone says nothing of them.
        guard !spotlight.isEmpty else { return "" }
        let others = (content.others?.count ?? 0) + content.more
        content.state["spoken"] = nil
        content.state["spotlight"] = .string(spotlight)
        content.state["others"] = others == 0 ? nil : .int(Int64(others))
        return spoken(content)
    }
}

/// A part of a card with a name, so that several surfaces can show it.
struct CardElement: Sendable {
    enum Form: Sendable {
        case text(Template)
        case timer(CardTimer)
        /// A bar, filled by a share from 0 to 1.
        case progress(String)
        /// A bar that fills by itself between two dates.
        case interval(from: String, until: String)
        /// A bar of as many parts as values, filled up to the field's own.
        case steps(String, values: [String])
        case icon(Icon, size: Double)
    }

    let name: String
    let form: Form
    /// Shorter text, for where the text does not fit.
    let short: Template?
    /// Subject of the element; elements of one subject keep their relative place (rule P2).
    let about: String
    let style: TextStyle
    let color: ColorChoice
    let when: [Condition]
    /// Element that may say the same: while it does, and stands above, this one is not shown.
    let unlike: String?
    /// Lines that the text may take.
    let lines: Int
    /// Least scale to which the text may shrink so that it fits.
    let shrink: Double
    /// Fields whose alert emphasises the element (rule A4).
    let highlights: Set<String>

    func isShown(in state: JSONObject) -> Bool { when.hold(in: state) }
}

/// A timer that the phone runs by itself.
struct CardTimer: Sendable {
    enum Unit: String, Sendable, CaseIterable { case clock, minutes }

    /// Field with a date, in ActivityKit's encoding: seconds since 2001.
    let field: String
    let countsDown: Bool
    /// Time that has passed, or remains, at the date.
    let plus: Duration
    let unit: Unit

    /// Returns the timer's text; `nil` without a date.
    func text(in state: JSONObject, at now: FeedTime) -> String? {
        seconds(in: state, at: now).map(text)
    }

    /// Returns the longest text that the timer comes to while the card exists; `nil` without a date.
    func longestText(in state: JSONObject, at now: FeedTime) -> String? {
        // A timer that counts down is longest now.
        text(in: state, at: countsDown ? now : now + CardTimer.lifetimeMax)
    }

    /// Returns the timer's spoken form; `nil` without a date.
    func spoken(in state: JSONObject, at now: FeedTime) -> String? {
        seconds(in: state, at: now).map { seconds in
            let minutes = unit == .minutes ? (seconds + 59) / 60 : seconds / 60
            return minutes == 1 ? "1 minute" : "\(minutes) minutes"
        }
    }

    /// Time after which the system ends every activity (rule L1).
    private static let lifetimeMax = Duration.seconds(8 * 3600)

    private func seconds(in state: JSONObject, at now: FeedTime) -> Int64? {
        guard let date = state[field]?.dateValue else { return nil }
        let passed = countsDown ? date - now : now - date
        return max(0, (passed.milliseconds + plus.milliseconds) / 1000)
    }

    private func text(_ seconds: Int64) -> String {
        switch unit {
        case .minutes: return "\((seconds + 59) / 60) min"
        case .clock:
            let (minutes, rest) = (seconds / 60, seconds % 60)
            let text = "\(minutes < 60 || !countsDown ? minutes : minutes % 60):\(rest < 10 ? "0" : "")\(rest)"
            return minutes < 60 || !countsDown ? text : "\(minutes / 60):\(text.count < 5 ? "0" : "")\(text)"
        }
    }
}

/// Colour of an element.
enum ColorChoice: Sendable {
    case primary, secondary, accent
    case fixed(Color)
    /// A field with a colour, as a team's; secondary where the state lacks it.
    case field(String)
}

/// A row of a section, with elements on up to three places.
struct CardRow: Sendable {
    enum Content: Sendable {
        case groups(leading: [String], center: [String], trailing: [String])
        /// The rows of the topic in the spotlight, by the template of its kind.
        case spotlight
        /// A cell for each other topic of a lineup, with these elements beside each other.
        case others([String], columns: Int)
    }

    let content: Content
    let when: [Condition]
}

extension JSONObject {
    /// Replaces values by the words for them.
    func worded(_ words: [String: [String: String]]) -> JSONObject {
        var worded = self
        for (key, words) in words {
            if let value = self[key], let word = words[value.asText] { worded[key] = .string(word) }
        }
        return worded
    }
}

extension JSONValue {
    /// Date in ActivityKit's encoding.
    var dateValue: FeedTime? {
        guard let seconds = doubleValue, abs(seconds) < 1e11 else { return nil }
        let time = FeedTime(milliseconds: Int64(seconds * 1000) + 978_307_200_000)
        return time.isPlausible ? time : nil
    }
}
