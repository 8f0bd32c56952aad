import FanfareModel
import FanfareReplay

/// Names of the figures and the way they are written.
extension DecisionTally.Figures {
    struct Name {
        let text: String
        /// Key in a JSON object.
        let key: String
        let decimals: Int

        func format(_ value: Double?) -> String {
            guard let value else { return "-" }
            return decimals == 0 ? Int(value).grouped : value.fixed(decimals)
        }

        func change(_ a: Double?, _ b: Double?) -> String {
            guard let a, let b, a != b, a != 0 else { return "" }
            return "\(b > a ? "+" : "")\(((b / a - 1) * 100).fixed(0)) %"
        }
    }

    static let names = [
        Name(text: "topics", key: "topics", decimals: 0),
        Name(text: "raw events", key: "events", decimals: 0),
        Name(text: "visible changes", key: "visibleChanges", decimals: 0),
        Name(text: "updates", key: "updates", decimals: 0),
        Name(text: "pushes per activity and hour", key: "pushesPerActivityAndHour", decimals: 1),
        Name(text: "saved against a push for every event, %", key: "percentSaved", decimals: 2),
        Name(text: "alerts granted", key: "alertsGranted", decimals: 0),
        Name(text: "alerts demoted", key: "alertsDemoted", decimals: 0),
        Name(text: "a change waited, median s", key: "waitMedianSeconds", decimals: 3),
        Name(text: "a change waited, worst s", key: "waitWorstSeconds", decimals: 3),
        Name(text: "essential events that waited", key: "essentialDelayed", decimals: 0),
    ]

    /// The figures in the order of `names`.
    var values: [Double?] {
        func seconds(_ wait: Duration?) -> Double? { wait.map { Double($0.milliseconds) / 1000 } }
        return [
            Double(topics), Double(events), Double(visibleChanges), Double(updates), pushesPerActivityAndHour,
            shareSaved.map { $0 * 100 }, Double(alertsGranted), Double(alertsDemoted), seconds(medianWait),
            seconds(worstWait), Double(essentialDelayed),
        ]
    }

    var json: JSONValue {
        var object = JSONObject()
        for (name, value) in zip(DecisionTally.Figures.names, values) {
            object[name.key] = value.map(JSONValue.double) ?? .null
        }
        return .object(object)
    }
}
