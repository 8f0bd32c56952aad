import Fanfare
import FanfareCore

extension ReplaySummary {
    /// For programs: one object, one line. Seconds are wall seconds; `null` where there is nothing to tell.
    var json: String {
        let counted = Outcome.allCases.map { ($0.rawValue, JSONValue.int(Int64(decisions[$0, default: 0]))) }
        let pushes = counts.pushes
        var object: JSONObject = [
            "events": .int(Int64(events)),
            "decisions": .object(JSONObject(counted)),
            "updates": .int(Int64(updates)),
            "alerts": ["granted": .int(Int64(alertsGranted)), "demoted": .int(Int64(alertsDemoted))],
            "pushes": [
                "sent": .int(Int64(pushes.sent)),
                "accepted": .int(Int64(pushes.accepted)),
                "dead": .int(Int64(pushes.dead)),
                "throttled": .int(Int64(pushes.throttled)),
                "failed": .int(Int64(pushes.failed)),
                "uncertain": .int(Int64(pushes.uncertain)),
                "notProcessed": .int(Int64(pushes.notProcessed)),
            ],
            "undelivered": .int(Int64(undelivered)),
            "interrupted": .bool(interrupted),
            "goals": .array(
                goals.map { goal in
                    [
                        "topic": .string(goal.topic.rawValue),
                        "version": .int(Int64(goal.version)),
                        "seconds": goal.secondsToLast.map(JSONValue.double) ?? .null,
                    ]
                }),
            "seconds": .double(seconds),
            "cpu_us_per_push": cpuMicrosecondsPerPush.map(JSONValue.double) ?? .null,
            "peak_rss_bytes": .int(peakResidentBytes),
        ]
        if let whatIf { object["what_if"] = whatIf.json }
        var bytes: [UInt8] = []
        object.write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self) + "\n"
    }
}

extension JSONObject {
    fileprivate init(_ members: [(String, JSONValue)]) {
        self.init()
        for (key, value) in members { self[key] = value }
    }
}
