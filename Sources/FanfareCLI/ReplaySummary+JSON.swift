import Fanfare
import FanfareFanOut
import FanfareModel
import FanfareQueues
import FanfareReplay

extension ReplaySummary {
    /// Version of the format; it increases when the meaning of a member changes. Version 2: `seconds` goes to the end of the replay and
    /// `delivery_seconds` to the last delivery, as `seconds` did; `goals[].seconds` is `null` also where an activity was refused the goal.
    /// Version 3: `undelivered` also counts activities that were refused the newest state; `goals` includes goals that a pause held back,
    /// and `goals[].seconds` is `null` where no activity was to get the goal; `delivery_seconds` goes to the last accepted push even if
    /// some activities lack something.
    private static let schema: Int64 = 3

    /// The summary for programs: one object on one line. Members without a value are `null`.
    var json: String {
        let counted = Outcome.allCases.map { ($0.rawValue, JSONValue.int(Int64(decisions.outcomes[$0, default: 0]))) }
        var object: JSONObject = [
            "events": .int(Int64(events)),
            "recalled": .int(Int64(recall.entries)),
            "decisions": .object(JSONObject(counted)),
            "updates": .int(Int64(decisions.updates)),
            "alerts": [
                "granted": .int(Int64(decisions.alertsGranted)), "demoted": .int(Int64(decisions.alertsDemoted)),
            ],
            "activityAlerts": counts.alerts.json,
            "pushes": counts.pushes.json,
            "transport": counts.transport.json,
            "fates": fates.json,
            "undelivered": .int(Int64(undelivered)),
            "refused": .int(Int64(counts.refusedStates)),
            "lineups": [
                "activities": .int(Int64(lineups.activities)), "distinct": .int(Int64(lineups.distinct)),
            ],
            "interrupted": .bool(interrupted),
            "goals": .array(goals.map(\.json)),
            "goalsLeftOut": .int(Int64(goalsLeftOut)),
            "freshness": .object(
                JSONObject(freshness.kinds.map { ($0.key.rawValue, $0.value.json) })),
            "oldest_undelivered_seconds": .double(oldestUndelivered),
            "seconds": .double(resources.seconds),
            "delivery_seconds": .double(resources.deliverySeconds),
            "schema": .int(ReplaySummary.schema),
            "cpu_us_per_push": resources.cpuMicrosecondsPerPush.map(JSONValue.double) ?? .null,
            "peak_rss_bytes": .int(Int64(resources.peakMemory.bytes)),
        ]
        if let whatIf { object["what_if"] = whatIf.json }
        if let store { object["store"] = store.json }
        var bytes: [UInt8] = []
        object.write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self) + "\n"
    }
}

extension ReplaySummary.Goal {
    fileprivate var json: JSONValue {
        [
            "topic": .string(topic.rawValue),
            "version": .int(Int64(version)),
            "seconds": secondsToLast.map(JSONValue.double) ?? .null,
            "awaited": .bool(isAwaited),
        ]
    }
}

extension AlertCounts {
    fileprivate var json: JSONValue {
        [
            "accepted": .int(Int64(accepted)), "superseded": .int(Int64(superseded)),
            "revoked": .int(Int64(revoked)), "stale": .int(Int64(stale)),
            "uncertain": .int(Int64(uncertain)), "refused": .int(Int64(refused)),
            "silenced": .int(Int64(silenced)), "limited": .int(Int64(limited)),
            "unclaimed": .int(Int64(unclaimed)),
        ]
    }
}

extension PushCounts {
    fileprivate var json: JSONValue {
        [
            "sent": .int(Int64(sent)),
            "accepted": .int(Int64(accepted)),
            "dead": .int(Int64(dead)),
            "held": .int(Int64(held)),
            "throttled": .int(Int64(throttled)),
            "failed": .int(Int64(refused)),
            "uncertain": .int(Int64(uncertain)),
            "notProcessed": .int(Int64(notProcessed)),
            "conserved": .int(Int64(downgradedToLowPriority)),
        ]
    }
}

extension FateCounts {
    fileprivate var json: JSONValue {
        [
            "expired": .int(Int64(expired)), "notEnded": .int(Int64(notEnded)),
            "refused": .int(Int64(refused.values.reduce(0, +))),
        ]
    }
}

extension TransportFigures {
    fileprivate var json: JSONValue {
        var seconds = JSONObject()
        for limit in Limit.allCases where limit != .nothing {
            seconds[limit.rawValue] = .double(Double(limitTimes[limit, default: .zero].nanoseconds) / 1e9)
        }
        let roundTrip = (roundTrip ?? .zero).nanoseconds
        return [
            "connections": .int(Int64(connections)), "connectionsWanted": .int(Int64(connectionsWanted)),
            "connectionsOpened": .int(Int64(connectionsOpened)),
            "roundTripSeconds": roundTrip > 0 ? .double(Double(roundTrip) / 1e9) : .null,
            "inFlight": .int(Int64(inFlight)), "limit": .string(limit.rawValue), "limitSeconds": .object(seconds),
        ]
    }
}

extension StoreCounts {
    fileprivate var json: JSONValue {
        func position(_ entry: Receipt.EntryPosition?) -> JSONValue {
            entry.map { JSONValue.int(Int64(clamping: $0.number)) } ?? .null
        }
        return [
            "oldestEntry": position(oldestEntry), "newestEntry": position(newestEntry),
            "entriesWaiting": .int(Int64(entriesWaiting)), "commits": log.times.json,
            "runningSeconds": log.running.map { JSONValue.double(Double($0.nanoseconds) / 1e9) } ?? .null,
            "trouble": log.trouble.map(JSONValue.string) ?? .null,
            "bytesWritten": .int(Int64(log.written.bytes)), "fileBytes": .int(Int64(log.fileSize.bytes)),
            "mapBytes": .int(Int64(log.mapSize.bytes)),
        ]
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
    /// Count and quantiles in seconds; a quantile is `null` where nothing was measured.
    fileprivate var json: JSONValue {
        func seconds(_ share: Double) -> JSONValue { nanoseconds(at: share).map { .double(Double($0) / 1e9) } ?? .null }
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
