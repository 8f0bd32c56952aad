import FanfareModel

/// The alerts of a feed by their text, which is unique because player names are.
struct ToldAlerts {
    private var alerts: [AlertText: (topic: TopicID, alert: Alert)] = [:]
    /// Text of each line that names one of several alerts.
    private var lines: [String: AlertText] = [:]

    /// Returns the alert of a text, and its topic.
    subscript(_ text: AlertText) -> (topic: TopicID, alert: Alert)? { alerts[text] }

    mutating func note(_ alert: Alert, of topic: TopicID) {
        alerts[alert.text] = (topic, alert)
        let body = alert.text.body.description
        lines[alert.text.title.description + (body.isEmpty ? "" : " · \(body)")] = alert.text
    }

    /// Returns the alerts that a push names, the leading one first; `nil` for an unknown text.
    func told(by text: AlertText) -> [AlertText]? {
        if alerts[text] != nil { return [text] }
        var lines = text.body.description.split(separator: "\n").map(String.init)
        var lead = AlertText(title: text.title, body: "", sound: text.sound)
        if alerts[lead] == nil, !lines.isEmpty { lead.body = .text(lines.removeFirst()) }
        let beside = lines.compactMap { self.lines[$0] }
        return alerts[lead] != nil && beside.count == lines.count ? [lead] + beside : nil
    }
}
