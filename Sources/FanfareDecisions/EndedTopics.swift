import FanfareModel

/// Topics that have ended and are still remembered, in the order of their ends. Where there is no room for another topic, the one that
/// ended longest ago gives way: a limit that counted them would refuse what people wait for, for the sake of what is over.
///
/// An entry may be of a topic that has been forgotten, or goes on (`TopicTable.isOver`).
struct EndedTopics: Sendable {
    struct Entry: Sendable {
        /// No two topics have the same; a place may be another topic's by now.
        let birth: UInt64
        let place: UInt32
        /// Of the end.
        let version: UInt32
    }

    private var queue = Queue<Entry>()
    /// Those that are remembered, as the owner counts them: each of them has one entry.
    var remembered = 0

    var first: Entry? { queue.first }
    /// Entries.
    var count: Int { queue.count }

    mutating func append(_ entry: Entry) { queue.append(entry) }
    mutating func popFirst() -> Entry? { queue.popFirst() }
    mutating func keep(_ isWanted: (Entry) -> Bool) { queue.removeAll { !isWanted($0) } }
}
