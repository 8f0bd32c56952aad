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
                "held": .int(Int64(pushes.held)),
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
            "freshness": .object(
                JSONObject(freshness.kinds.map { ($0.key.rawValue, $0.value.json) })),
            "oldest_undelivered_seconds": .double(oldestUndelivered),
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

extension Freshness {
    fileprivate var json: JSONValue {
        [
            "stateAge": stateAge.json,
            "sweep": sweep.json,
            "laneDelay": .object(
                JSONObject(zip(["alerts", "immediate", "conserving"], laneDelay.map(\.json)).map { $0 })),
        ]
    }
}

extension Histogram {
    /// Seconds; `null` where nothing was measured.
    fileprivate var json: JSONValue {
        func seconds(_ share: Double) -> JSONValue { quantile(share).map { .double(Double($0) / 1e9) } ?? .null }
        return [
            "count": .int(Int64(clamping: count)), "p50": seconds(0.5), "p99": seconds(0.99), "p999": seconds(0.999),
            "max": seconds(1),
        ]
    }
}

extension JSONObject {
    fileprivate init(_ members: [(String, JSONValue)]) {
        self.init()
        for (key, value) in members { self[key] = value }
    }
}
