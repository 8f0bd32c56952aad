import FanfareModel
import FanfareQueues

/// Activities that the shard has removed, until the core has noted them. The core removes their rows from a disk, so the shard reports a few at a
/// time: ten million cards of a match may be over in some seconds, and a goal of another match passes through the same core.
struct RemovedActivities {
    /// Bits of the activity's id, and hash of the token that it had.
    struct Entry: Equatable {
        let id: UInt64
        let token: UInt64
    }

    /// Entries in the order of groups, none of which grows with the others: a list of ten million would be copied as it grows.
    private var groups = Queue<[Entry]>()
    private var newest: [Entry] = []
    private var oldest = Queue<Entry>()
    /// Number of entries that have been reported to the core and about which the core has not asked.
    private var unanswered = 0

    static let unansweredMax = 1024
    private static let groupMax = 4096

    var count: Int { oldest.count + newest.count + groups.elements.reduce(0) { $0 + $1.count } }

    mutating func append(_ entry: Entry) {
        newest.append(entry)
        guard newest.count == RemovedActivities.groupMax else { return }
        groups.append(newest)
        newest = []
        newest.reserveCapacity(RemovedActivities.groupMax)
    }

    /// Removes and returns the next entry to report to the core; `nil` if there is none, or while many are without a question. The order is that of
    /// removal, because an activity may come back under its id and be removed once more.
    mutating func next() -> Entry? {
        guard unanswered < RemovedActivities.unansweredMax else { return nil }
        if oldest.isEmpty {
            if let group = groups.popFirst() {
                oldest = Queue(group)
            } else {
                oldest = Queue(newest)
                newest = []
            }
        }
        guard let entry = oldest.popFirst() else { return nil }
        unanswered += 1
        return entry
    }

    /// Describes a group of a wrong size, or too many entries without an answer; `nil` if there are none.
    func violation() -> String? {
        guard (0...RemovedActivities.unansweredMax).contains(unanswered), newest.count < RemovedActivities.groupMax,
            groups.elements.allSatisfy({ $0.count == RemovedActivities.groupMax })
        else { return "\(unanswered) removals are unanswered, and \(newest.count) in the newest group" }
        return nil
    }

    /// Notes that the core has asked about an entry.
    mutating func noteAsked() { unanswered = max(0, unanswered - 1) }
}
