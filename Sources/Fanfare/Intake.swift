import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel

/// Requests of an engine with a store, on their way from the mailbox through the store to the core. A request that changes decisions or
/// people is an entry, and is carried out when that entry is durable; the others keep their place between the entries. Has neither thread nor loop.
/// Confined to the core's thread.
final class Intake {
    /// Answer to a caller that waits for its entry: the entry's position, or `nil` if the engine stops before the entry is durable.
    typealias Acknowledge = @Sendable (LogPosition?) -> Void

    /// Answer to a caller that waits for an entry about a person: `true` if the store keeps it, `nil` if the engine stops before that.
    typealias AcknowledgePerson = @Sendable (Bool?) -> Void

    enum Item {
        case entry(LogEntry, Acknowledge?)
        /// Entry that is durable and acknowledged.
        case durable(LogEntry, LogPosition)
        /// Entry about a person, and the request to carry out when it is durable.
        case person(PeopleEntry, CoreTurn.Request?, AcknowledgePerson?)
        case request(CoreTurn.Request)
    }

    private var held: [Item] = []
    private var committing: [Item] = []
    private var ready: [Item] = []
    private var readyTaken = 0
    /// Cards that are over and whose rows are to be removed: entries of the next commits, a part in each.
    private var removals: [PeopleEntry] = []
    private var removalsTaken = 0
    /// Earliest deadline among the settles, in monotonic nanoseconds.
    private(set) var settleDeadline = Int64.max
    private let commit: ([LogEntry], [PeopleEntry]) -> Void
    /// Time of the last `commit`, in monotonic nanoseconds.
    private(set) var committingSince: Int64 = 0
    /// Time of the commit of which operators have been told that it is slow, in monotonic nanoseconds.
    var slowCommit: Int64?
    /// Earliest time of the next entry that only advances time, in monotonic nanoseconds.
    var nextTick = Int64.min
    /// Log time of the newest entry that was held.
    private(set) var newestEntry = FeedTime.plausible.lowerBound
    /// Is `true` once the feed's end is held.
    var isFeedOver = false
    /// Requests that changed decisions and were given up, because the store did not answer.
    private(set) var lost = 0

    /// Removals in a commit: some 10 ms, for which a goal may have to wait. A million cards may be over at once.
    static let removalsMax = 512
    /// Items in hand. Beyond that number requests stay in the mailbox.
    static let itemsMax = 1 << 12

    /// - Parameter commit: makes entries durable; `entriesAreDurable` follows, later. It is not called again before that.
    init(commit: @escaping ([LogEntry], [PeopleEntry]) -> Void) { self.commit = commit }

    var isCommitting: Bool { !committing.isEmpty }
    /// Is `true` if an entry waits for the next commit.
    private(set) var holdsEntry = false
    var isEmpty: Bool { held.isEmpty && !isCommitting && !hasReady }
    var hasReady: Bool { readyTaken < ready.count }
    var hasRoom: Bool { held.count + committing.count + ready.count - readyTaken < Intake.itemsMax }

    func hold(_ item: Item) {
        switch item {
        case .entry(let entry, _):
            holdsEntry = true
            newestEntry = entry.now
        case .person: holdsEntry = true
        case .request(.settle(let until, _)): settleDeadline = min(settleDeadline, until)
        case .request, .durable: break
        }
        held.append(item)
    }

    /// Notes that a card is over, so that its row is removed soon. The card is lost to nobody if that does not happen: after a restart it
    /// ends once more.
    func note(removal: PeopleEntry) { removals.append(removal) }

    var hasRemovals: Bool { removalsTaken < removals.count }

    private func holdRemovals() {
        guard hasRemovals else { return }
        let part = removals[removalsTaken...].prefix(Intake.removalsMax)
        for removal in part { hold(.person(removal, nil, nil)) }
        removalsTaken += part.count
        guard !hasRemovals else { return }
        removals = []
        removalsTaken = 0
    }

    /// Begins to make durable what is held, unless something is being made durable. What needs no entry is ready if no entry precedes it.
    func send(at now: Int64) {
        guard !isCommitting else { return }
        holdRemovals()
        guard !held.isEmpty else { return }
        let first = held.firstIndex { if case .request = $0 { false } else { true } } ?? held.endIndex
        ready += held[..<first]
        held.removeFirst(first)
        guard !held.isEmpty else { return }
        var entries: [LogEntry] = []
        var people: [PeopleEntry] = []
        for item in held {
            switch item {
            case .entry(let entry, _): entries.append(entry)
            case .person(let entry, _, _): people.append(entry)
            case .request, .durable: break
            }
        }
        swap(&committing, &held)
        holdsEntry = false
        committingSince = now
        commit(entries, people)
    }

    /// - Parameters:
    ///   - first: position of the first entry.
    ///   - kept: for each entry about people, if the store keeps it.
    func entriesAreDurable(from first: LogPosition, kept: [Bool] = []) {
        var position = first
        var kept = kept[...]
        for item in committing {
            switch item {
            case .entry(let entry, let acknowledge):
                acknowledge?(position)
                ready.append(.durable(entry, position))
                position += 1
                continue
            case .person(_, _, let acknowledge): acknowledge?(kept.popFirst() ?? false)
            case .request, .durable: break
            }
            ready.append(item)
        }
        committing.removeAll(keepingCapacity: true)
    }

    /// Returns the next item to carry out, in the order of the mailbox.
    func take() -> Item? {
        guard hasReady else { return nil }
        defer {
            readyTaken += 1
            if !hasReady {
                ready.removeAll(keepingCapacity: true)
                readyTaken = 0
            }
        }
        return ready[readyTaken]
    }

    /// Answers callers of `settle` whose time is over, even if the disk takes nothing for hours.
    func withdrawSettles(at now: Int64) {
        guard settleDeadline <= now else { return }
        settleDeadline = .max
        func withdraw(_ item: Item) -> Bool {
            guard case .request(.settle(let until, let settled)) = item else { return false }
            if until > now { settleDeadline = min(settleDeadline, until) } else { settled(.unknown) }
            return until <= now
        }
        ready.removeFirst(readyTaken)
        readyTaken = 0
        ready.removeAll(where: withdraw)
        committing.removeAll(where: withdraw)
        held.removeAll(where: withdraw)
    }

    /// Gives up what is not known to be durable. The store may still write the commit that it has begun.
    ///
    /// - Returns: the requests that need no entry.
    func abandon() -> [CoreTurn.Request] {
        let items = ready.dropFirst(readyTaken) + committing + held
        (ready, committing, held, readyTaken, settleDeadline, holdsEntry) = ([], [], [], 0, .max, false)
        return items.compactMap { item in
            switch item {
            case .request(let request): return request
            case .entry(let entry, let acknowledge):
                acknowledge?(nil)
                if entry.isRequest { lost += 1 }
                return nil
            case .durable: return nil
            case .person(_, let request, let acknowledge):
                acknowledge?(nil)
                if request != nil { lost += 1 }
                return nil
            }
        }
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
