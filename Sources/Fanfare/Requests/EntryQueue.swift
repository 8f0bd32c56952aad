import FanfareLog
import FanfareModel
import FanfareQueues

/// Entries of an engine with a store on their way to the core: they are held, committed together, and taken in order once they are durable.
struct EntryQueue {
    private struct Held {
        let entry: LogEntry
        let acknowledge: EntryAcknowledgement?
    }

    /// Entries for the next commit, and those of the present one.
    private var held: [Held] = []
    private var committing: [Held] = []
    private var durable = Queue<(entry: LogEntry, position: LogPosition)>()
    /// Numbers of entries that were ever held, durable and taken.
    private(set) var heldEver: UInt64 = 0
    private(set) var durableEver: UInt64 = 0
    private(set) var takenEver: UInt64 = 0
    /// Log time of the newest entry that was held, and of the newest one that was taken.
    private(set) var newestHeld = FeedTime.plausible.lowerBound
    private(set) var newestTaken = FeedTime.plausible.lowerBound
    var watch = CommitWatch()

    var isCommitting: Bool { !committing.isEmpty }
    /// Is `true` if an entry waits for the next commit, or is durable and not taken.
    var holdsEntry: Bool { !held.isEmpty || !durable.isEmpty }
    /// Number of entries that are not durable.
    var waitingCount: Int { held.count + committing.count }
    var count: Int { waitingCount + durable.count }

    mutating func hold(_ entry: LogEntry, _ acknowledge: EntryAcknowledgement?) {
        heldEver += 1
        newestHeld = entry.now
        held.append(Held(entry: entry, acknowledge: acknowledge))
    }

    /// Begins the next commit.
    ///
    /// - Returns: its entries; none if nothing is held, or while another one is on its way.
    mutating func beginCommit(at clock: MonotonicTime) -> [LogEntry] {
        guard !isCommitting, !held.isEmpty else { return [] }
        swap(&held, &committing)
        watch.since = clock
        return committing.map(\.entry)
    }

    /// Ends the commit and acknowledges its entries.
    ///
    /// - Parameter first: position of its first entry.
    mutating func endCommit(from first: LogPosition) {
        watch.since = nil
        for (index, entry) in committing.enumerated() {
            let position = first + LogPosition(index)
            entry.acknowledge?(position)
            durable.append((entry.entry, position))
        }
        durableEver += UInt64(committing.count)
        committing.removeAll(keepingCapacity: true)
    }

    /// Removes and returns the first entry that is durable.
    mutating func popDurable() -> (entry: LogEntry, position: LogPosition)? {
        guard let next = durable.popFirst() else { return nil }
        newestTaken = next.entry.now
        takenEver += 1
        return next
    }

    /// Gives up all entries, and answers the callers of entries that may not be durable.
    ///
    /// - Returns: the number of requests among these.
    mutating func abandon() -> Int {
        let givenUp = committing + held
        for entry in givenUp { entry.acknowledge?(nil) }
        (held, committing, durable) = ([], [], Queue())
        return givenUp.count { $0.entry.isRequest }
    }

    /// Describes a wrong number of entries, or a commit that is watched wrongly; `nil` if there is none. For tests, until the queue gives up
    /// its entries: the numbers count these on.
    func violation() -> String? {
        guard heldEver == durableEver + UInt64(held.count + committing.count) else {
            return "of \(heldEver) entries, \(durableEver) became durable, and \(held.count + committing.count) wait"
        }
        guard durableEver == takenEver + UInt64(durable.count) else {
            return "of \(durableEver) durable entries, \(takenEver) were taken, and \(durable.count) are left"
        }
        guard isCommitting == (watch.since != nil) else {
            return "\(committing.count) entries are committed, since \(String(describing: watch.since))"
        }
        return nil
    }
}

extension LogEntry {
    fileprivate var isRequest: Bool {
        switch body {
        case .event, .rejection: true
        case .rules, .tick, .feedEnd: false
        }
    }
}
