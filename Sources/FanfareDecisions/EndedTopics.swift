import FanfareModel
import FanfareQueues

/// Queue of ended topics that are still remembered, in the order of their ends. The one that ended longest ago gives way to a new
/// topic when there is no room: a limit that counted ended topics would refuse live ones for their sake.
///
/// An entry may be stale: its topic may be forgotten or running again (`TopicTable.isOver`).
struct EndedTopics: Sendable {
    struct Entry: Sendable {
        /// Birth number of the topic, unique over all topics. Another topic may have the place by now.
        let birth: UInt64
        let place: UInt32
        /// Version of the end.
        let version: UInt32
    }

    private var queue = Queue<Entry>()
    /// Number of ended topics that are remembered, counted by the owner. Each has one entry.
    var remembered = 0

    var first: Entry? { queue.first }
    /// Number of entries, stale ones included.
    var count: Int { queue.count }

    mutating func append(_ entry: Entry) { queue.append(entry) }
    mutating func popFirst() -> Entry? { queue.popFirst() }
    mutating func keep(_ isWanted: (Entry) -> Bool) { queue.removeAll { !isWanted($0) } }

    /// Describes more remembered topics than entries, or an end with two entries; `nil` if there is none. For tests.
    func violation() -> String? {
        guard (0...count).contains(remembered) else { return "\(remembered) ended topics have \(count) entries" }
        var versions: [UInt64: Set<UInt32>] = [:]
        for entry in queue.elements {
            guard versions[entry.birth, default: []].insert(entry.version).inserted else {
                return "the end of topic \(entry.birth) at version \(entry.version) has two entries"
            }
        }
        return nil
    }
}
