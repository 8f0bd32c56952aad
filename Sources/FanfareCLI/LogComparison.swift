import FanfareFeeds
import FanfareModel

/// Compares two decision logs of one feed event by event: the n-th event of one log with the n-th of the other.
/// Timers follow from the rules and are only counted.
struct LogComparison {
    struct Difference {
        /// Number of the event, from 1.
        let number: Int
        let a: JSONObject?
        let b: JSONObject?
    }

    /// Most differences shown one by one; the rest are counted.
    private static let shownMax = 20

    private struct Side {
        let name: String
        let log: DecisionLogReader
        var events = 0
        var timers = 0
        var published = 0

        init(_ path: String) throws(UsageError) {
            name = path
            log = try DecisionLogReader(path)
        }

        mutating func nextEvent() throws(UsageError) -> JSONObject? {
            while let record = try log.next() {
                if record["outcome"] == .string(Outcome.published.rawValue) { published += 1 }
                if record["type"] == .string(DecisionRecord.Origin.event.rawValue) {
                    events += 1
                    return record
                }
                timers += 1
            }
            return nil
        }

        var json: JSONValue {
            ["events": .int(Int64(events)), "timers": .int(Int64(timers)), "published": .int(Int64(published))]
        }
    }

    private var a: Side
    private var b: Side
    private var differing = 0
    private var first: [Difference] = []
    /// Number of events by the change of their outcome, such as "published → conflated".
    private var moves: [String: Int] = [:]

    /// - Throws: `UsageError` for a file that cannot be read or is not a decision log.
    init(_ a: String, _ b: String) throws(UsageError) {
        self.a = try Side(a)
        self.b = try Side(b)
        while true {
            let (one, other) = (try self.a.nextEvent(), try self.b.nextEvent())
            if one == nil, other == nil { break }
            guard one != other else { continue }
            differing += 1
            if first.count < LogComparison.shownMax {
                first.append(Difference(number: max(self.a.events, self.b.events), a: one, b: other))
            }
            moves["\(outcome(one)) → \(outcome(other))", default: 0] += 1
        }
    }

    /// Is `true` if the logs are equal byte for byte, timers included.
    var areEqual: Bool { a.log.hash == b.log.hash }

    private func outcome(_ record: JSONObject?) -> String { record?["outcome"]?.stringValue ?? "not there" }

    var text: String {
        var table = Table(["", a.name, b.name])
        table.add(["events", a.events.grouped, b.events.grouped])
        table.add(["timers", a.timers.grouped, b.timers.grouped])
        table.add(["published", a.published.grouped, b.published.grouped])
        guard !areEqual else { return table.text + "equal, byte for byte\n" }
        var lines = ["\(differing.grouped) events came out differently" + (differing == 0 ? "; the timers did" : "")]
        for (move, count) in moves.sorted(by: { (-$0.value, $0.key) < (-$1.value, $1.key) }) {
            lines.append("  \(count.grouped)  \(move)")
        }
        for difference in first {
            let record = difference.a ?? difference.b ?? [:]
            let name = ["topic", "now", "kind", "id"].compactMap { record[$0]?.stringValue }.joined(separator: " ")
            lines.append("event \(difference.number.grouped)  \(name)")
            for side in [difference.a, difference.b] {
                lines.append("    \(outcome(side)): \(side?["reason"]?.stringValue ?? "")")
            }
        }
        if differing > first.count { lines.append("… and \((differing - first.count).grouped) more") }
        return table.text + lines.joined(separator: "\n") + "\n"
    }

    var json: String {
        var moves = JSONObject()
        for (move, count) in self.moves { moves[move] = .int(Int64(count)) }
        let object: JSONValue = [
            "equal": .bool(areEqual), "differing": .int(Int64(differing)), "outcomes": .object(moves),
            "a": a.json, "b": b.json,
            "first": .array(
                first.map { difference in
                    [
                        "event": .int(Int64(difference.number)),
                        "a": difference.a.map(JSONValue.object) ?? .null,
                        "b": difference.b.map(JSONValue.object) ?? .null,
                    ]
                }),
        ]
        return object.text + "\n"
    }
}
