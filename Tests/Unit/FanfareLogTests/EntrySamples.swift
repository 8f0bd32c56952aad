import FanfareModel

@testable import FanfareLog

/// Entries that have every member of every form, and random ones.
enum EntrySamples {
    private static let at = FeedTime(milliseconds: 1_781_359_200_123)
    private static let state: JSONObject = [
        "none": .null, "yes": true, "no": false, "least": .int(.min), "most": .int(.max), "whole": .double(3),
        "zero": .double(-0.0), "part": 0.1, "text": "Käse \"1\"\n\u{0}👩‍👩‍👧", "list": [1, [2, []], "x"],
        "object": ["a": ["b": [:]]], "": "empty key",
    ]

    static let all: [LogEntry] = {
        var entries: [LogEntry] = [
            LogEntry(now: FeedTime.plausible.lowerBound, .rules("[football]\n", decisionVersion: 7)),
            LogEntry(now: at, .tick), LogEntry(now: at, item: 9, .feedEnd),
            LogEntry(
                now: at, item: 3,
                .rejection(FeedRejection(location: "f:3", reason: "no JSON", topic: TopicID("m/1"), at: at))),
            LogEntry(now: at, item: 4, .rejection(FeedRejection(location: "f", reason: ""))),
        ]
        let changes: [FeedEvent.Change] = [
            .nothing, .patch(state), .contentState(state), .retraction(of: "g1"),
            .fact(Fact(id: "g1", kind: "goal", at: at, values: state)),
        ]
        for change in changes + FeedEvent.Operation.allCases.map(FeedEvent.Change.operation) {
            entries.append(
                LogEntry(
                    now: at, .event(FeedEvent(topic: TopicID("m/1"), at: at, kind: "k", change: change), wall: nil)))
        }
        let localized = AlertText(
            title: .localized(key: "GOAL", arguments: ["A", ""]), body: .text("…"), sound: "horn.caf")
        for (lifecycle, environment) in [
            (FeedEvent.Lifecycle.start, AppID.Environment.production), (.end, .development),
        ] {
            let app = AppID(bundleID: "com.example", environment: environment)
            let event = FeedEvent(
                topic: TopicID("ä/☂"), topicKind: .football, at: FeedTime(milliseconds: -1), seq: .max, id: "e1",
                kind: "goal", lifecycle: lifecycle, change: .nothing, alert: localized, isCorrection: true, app: app)
            entries.append(LogEntry(now: at, item: .max, .event(event, wall: FeedTime(milliseconds: .max))))
        }
        return entries
    }()

    /// Entries of calls with keys, which have the second form.
    static let keyed: [LogEntry] = {
        let texts = ["k", "9f1c2f64-job/7", String(repeating: "☂", count: 21) + "!"]
        let event = LogEntry.Body.event(
            FeedEvent(topic: TopicID("m/1"), at: at, kind: "k", change: .contentState(state)), wall: at)
        let rejection = LogEntry.Body.rejection(FeedRejection(location: "f", reason: "too deep"))
        return zip([event, .tick, rejection], texts).enumerated().compactMap { number, pair in
            guard let key = try? IdempotencyKey(pair.1) else { return nil }
            return LogEntry(now: at, key: CallKey(key, content: .max >> (8 * UInt64(number))), pair.0)
        }
    }()

    static func random(using random: inout some RandomNumberGenerator) -> LogEntry {
        var entry = (all + keyed).randomElement(using: &random)!
        entry.now = FeedTime(
            milliseconds: Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0...63, using: &random))
        entry.item = UInt64.random(in: 0...(.max), using: &random) >> UInt64.random(in: 0...63, using: &random)
        return entry
    }
}
