import FanfareLog
import FanfareModel

@testable import Fanfare

/// Disk of an engine in one thread: entries are durable when a test lets it sync.
final class ManualDisk {
    private(set) lazy var intake = Intake { [unowned self] entries, _ in
        precondition(waiting.isEmpty, "entries are being made durable")
        waiting = entries
    }
    /// Entries of the commit that waits for a sync.
    private(set) var waiting: [LogEntry] = []
    private(set) var durable: [LogEntry] = []
    /// A stuck disk never syncs.
    var isStuck = false
    private var numbers: [TopicID: UInt64] = [:]

    /// - Returns: whether anything has become durable.
    func sync() -> Bool {
        guard !waiting.isEmpty, !isStuck else { return false }
        let first = LogPosition(durable.count + 1)
        durable += waiting
        for case .event(let event, _) in waiting.map(\.body) {
            numbers[event.topic] = max(numbers[event.topic] ?? 0, event.seq ?? 0)
        }
        waiting = []
        intake.entriesAreDurable(from: first)
        return true
    }

    /// Returns whether the topic's event with that sequence number, or a later one, is durable.
    func hasDurable(_ number: Int, of topic: TopicID) -> Bool { numbers[topic] ?? 0 >= UInt64(number) }
}
