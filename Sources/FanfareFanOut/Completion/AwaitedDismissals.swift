import FanfareModel
import FanfareQueues

/// Times at which rows of ended topics are to leave lineups: each makes lineups restorable, or no longer restorable, without news of the topic.
///
/// A pass over the lineups adds the topics that it takes up, so that nobody looks for such times in each turn.
struct AwaitedDismissals {
    private struct Entry: Comparable {
        let at: MonotonicTime
        let topic: TopicIndex

        static func < (one: Entry, other: Entry) -> Bool { one.at < other.at }
    }

    private var heap = BinaryHeap<Entry>()
    /// The time that is awaited of each topic. An entry of another time is stale.
    private var times: [TopicIndex: MonotonicTime] = [:]

    /// Time of the first entry; `nil` if there is none.
    var due: MonotonicTime? { heap.first?.at }

    /// Adds a topic whose row is to leave at that time, in place of a former time.
    mutating func note(_ topic: TopicIndex, leavingAt time: MonotonicTime) {
        guard times.updateValue(time, forKey: topic) != time else { return }
        heap.insert(Entry(at: time, topic: topic))
    }

    /// Removes and returns a topic whose time has come; `nil` if there is none.
    mutating func takeDue(at now: MonotonicTime) -> TopicIndex? {
        while let first = heap.first, first.at <= now {
            _ = heap.removeFirst()
            guard times[first.topic] == first.at else { continue }
            times[first.topic] = nil
            return first.topic
        }
        return nil
    }

    /// Describes a topic whose time would never come, or entries out of order; `nil` if there is none.
    func violation() -> String? {
        for (topic, time) in times where !heap.elements.contains(where: { $0.topic == topic && $0.at == time }) {
            return "the row of topic \(topic) is to leave, and nobody will hear of it"
        }
        return heap.violation()
    }
}
