import FanfareDecisions
import FanfareFanOut
package import FanfareLog
import FanfareModel
import FanfareQueues

/// Requests of an engine with a store, on their way from the mailbox through the store to the core. A request that changes decisions is an
/// entry of the log, one that changes a card is a row of the people, and both are carried out when the store has them.
///
/// The intake writes entries and rows side by side. The core decides an entry before all waiting rows, and after the rows that are being written. Few
/// rows are written at a time, so a goal hardly waits, however many people follow. Hence a card has joined, as its row says, before each entry that
/// is decided after its row, unless the rows take longer than an entry waits. The core carries out every other request after all earlier ones. The
/// intake has neither thread nor loop. Confined to the core's thread.
package final class Intake {
    enum Item {
        /// Entry that is durable and acknowledged.
        case durable(LogEntry, LogPosition)
        /// Change of a card that is durable and acknowledged, and `PeopleEntry.revivedCard`.
        case kept(CoreRequest, revives: UInt64?, isKept: Bool)
        case request(CoreRequest)
    }

    /// Change of a card, with the request to carry out when it is durable.
    struct Change {
        let entry: PeopleEntry
        let request: CoreRequest
        var acknowledge: PersonAcknowledgement?
        /// Entry with the call's idempotency key, and the answer to the caller, which tells if the store keeps the card. The entry is held when the
        /// card is durable. If the process dies between them, the next one starts the card, and does not know the key: a repeated call is then a
        /// start of the same card while that lives.
        var key: (entry: LogEntry, acknowledge: @Sendable (LogPosition?, _ isKept: Bool) -> Void)?
        /// Removal of the row of a former card under the call's id.
        fileprivate(set) var removal: PeopleEntry?
    }

    /// Request that makes no entry.
    private struct Waiting {
        enum Kind {
            /// Change that the store does not have yet.
            case change(Change)
            /// Change that has been written, kept or not.
            case kept(CoreRequest, PersonAcknowledgement?, Bool, revives: UInt64?)
            case request(CoreRequest)
        }

        var kind: Kind
        /// Number of entries that are carried out before it.
        let entries: UInt64
        /// Number of entries that have to be durable before it is carried out.
        var key: UInt64 = 0
        /// Number of the call in the mailbox.
        var handedIn: UInt64 = 0
    }

    private var entries = EntryQueue()
    private var rows = RowCommit()
    /// Is `true` while the store's cards are loaded. Changes of cards and questions about them wait; entries do not.
    private(set) var isLoading: Bool
    /// Cards that the process before this one may have started.
    package var uncertain = UncertainStarts()
    /// Requests in the order of the mailbox. The first changes among them are being written.
    private var waiting = Queue<Waiting>()
    /// Requests about no card, while cards are loaded: they wait only for the entries before them.
    private var aside: [Waiting] = []
    /// Number of questions about cards that wait while cards are loaded.
    private var questionsWaiting = 0
    private var ready = Queue<Item>()
    /// Cards that are over, whose rows are removed, a part with each commit of rows. A missed removal loses no card: after a restart the card ends
    /// once more.
    package var ends = CardEnds()
    /// Earliest deadline among the settles.
    private(set) var settleDeadline = MonotonicTime.never
    private let commit: ([LogEntry]) -> Void
    private let write: ([PeopleEntry]) -> Void
    /// Is `true` once the feed's end is held.
    var isFeedOver = false
    /// Requests that changed decisions and were given up, because the store did not answer.
    private(set) var lost = 0
    /// Requests that wait without being entries.
    private let waitingMax: Int

    /// Rows in a commit, or one more: some 25 ms among ten million, for which a goal may have to wait.
    static let rowsMax = 512
    /// Rows of ended cards in a commit, beside rows of calls. A million cards may end at once.
    private static let removalsMin = 128
    /// Entries and ready items in hand. Beyond that number requests stay in the mailbox.
    static let itemsMax = 1 << 12

    /// - Parameters:
    ///   - waitingMax: number of waiting requests beyond which all stay in the mailbox. Changes alone do not reach it (`Inbox`).
    ///   - isLoading: whether the store's cards are still to be loaded (`endLoading`).
    ///   - commit: makes entries durable; `entriesAreDurable` follows, later. It is not called again before that.
    ///   - write: makes rows durable; `rowsAreDurable` follows, later. It is not called again before that.
    package init(
        waitingMax: Int = 1 << 14, isLoading: Bool = false, commit: @escaping ([LogEntry]) -> Void,
        write: @escaping ([PeopleEntry]) -> Void
    ) {
        (self.waitingMax, self.isLoading, self.commit, self.write) = (waitingMax, isLoading, commit, write)
    }

    /// Notes that all cards of the store are loaded.
    ///
    /// - Parameter cards: bits of the ids of cards that the process before this one may have started.
    package func endLoading(uncertain cards: [UInt64]) {
        (isLoading, questionsWaiting, uncertain) = (false, 0, UncertainStarts(cards))
        for index in 0..<waiting.count {
            if case .change(let change) = waiting[index].kind { note(change, at: index) }
        }
    }

    /// Notes a change that waits, once all cards are loaded: it is passed over, or waits for the removal of its card's row.
    private func note(_ change: Change, at index: Int) {
        if case .follow(let card) = change.entry { uncertain.resolve(card.id.rawValue) }
        if let id = change.entry.startedCard, uncertain.covers(id.rawValue, waiting[index].handedIn) {
            return passOver(change, of: id, at: index)
        }
        guard let id = change.entry.revivedCard else { return }
        var change = change
        change.removal = ends.noteCall(id)
        waiting[index].kind = .change(change)
    }

    /// Answers the caller of a change that is not carried out.
    private func passOver(_ change: Change, of card: ActivityID, at index: Int) {
        change.acknowledge?(false)
        waiting[index].kind = .request(.passedOver(card))
        guard let (entry, acknowledge) = change.key else { return }
        hold(LogEntry(now: max(entry.now, entries.newestHeld), key: entry.key, entry.body)) { acknowledge($0, false) }
        waiting[index].key = entries.heldEver
    }

    var isCommittingEntries: Bool { entries.isCommitting }
    /// Is `true` while the store owes an answer.
    var isCommitting: Bool { isCommittingEntries || rows.isWriting }
    /// Is `true` while something waits for cards that are being loaded.
    var awaitsCards: Bool { isLoading && !waiting.isEmpty }
    /// Number of entries that are not durable.
    var entriesWaiting: Int { entries.waitingCount }
    /// Number of changes of cards that are not carried out.
    var changesInHand: Int {
        let ready = ready.elements.count { if case .kept = $0 { true } else { false } }
        return ready + waiting.elements.count { if case .request = $0.kind { false } else { true } }
    }
    /// Is `true` if an entry waits for the next commit, or for rows.
    var holdsEntry: Bool { entries.holdsEntry }
    var isEmpty: Bool { !holdsEntry && waiting.isEmpty && aside.isEmpty && !isCommitting && !hasReady }
    /// Is `true` if the store has everything, and is about to remove no rows of ended cards. It removes none while cards are loaded.
    var isIdle: Bool { isEmpty && (ends.isEmpty || isLoading) }
    var hasReady: Bool { !ready.isEmpty }
    /// Log time at which a card counts as joined whose change is not carried out: the earliest one; `nil` if there is none.
    var joining: FeedTime? { rows.joining }

    var hasRoom: Bool {
        entries.count + ready.count < Intake.itemsMax && waiting.count + aside.count < waitingMax
    }

    /// Returns the contradiction among the entries, the ends of cards or the uncertain starts; `nil` if there is none. For tests.
    func violation() -> String? { entries.violation() ?? ends.violation() ?? uncertain.violation() }

    func hold(_ entry: LogEntry, _ acknowledge: EntryAcknowledgement?) { entries.hold(entry, acknowledge) }

    /// - Parameter number: number of the call in the mailbox.
    func hold(_ change: Change, handedIn number: UInt64 = .max) {
        waiting.append(Waiting(kind: .change(change), entries: entries.heldEver, handedIn: number))
        if !isLoading { note(change, at: waiting.count - 1) }
    }

    /// Holds a request that needs no entry.
    func hold(_ request: CoreRequest) {
        if isLoading {
            guard request.isOfCards else {
                return aside.append(Waiting(kind: .request(request), entries: entries.heldEver))
            }
            // Events do not wait behind questions, however many.
            guard !request.isQuestion || questionsWaiting < waitingMax / 4 else { return request.decline() }
            if request.isQuestion { questionsWaiting += 1 }
        }
        if case .settle(let until, _) = request { settleDeadline = min(settleDeadline, until) }
        waiting.append(Waiting(kind: .request(request), entries: entries.heldEver))
    }

    /// Begins to write waiting items, as far as the store owes no answer. Items that wait for nothing are ready.
    ///
    /// - Parameters:
    ///   - clock: the time at which it begins.
    ///   - now: log time that the core has reached.
    func send(at clock: MonotonicTime, now: FeedTime) {
        release()
        let entries = entries.beginCommit(at: clock)
        if !entries.isEmpty { commit(entries) }
        // Entries wait for one commit of rows, and for the keys of its calls.
        guard !isLoading, !rows.isWriting, rows.changesSent == 0 else { return }
        sendRows(at: clock, joinedAt: max(now, self.entries.newestTaken))
    }

    /// - Parameter joinedAt: a log time that an entry has reached: another one may come again after a restart.
    private func sendRows(at clock: MonotonicTime, joinedAt: FeedTime) {
        var rows: [PeopleEntry] = []
        var areChanges: [Bool] = []
        let most = Intake.rowsMax - min(ends.count, Intake.removalsMin)
        for request in waiting.elements {
            guard rows.count < most, request.entries <= entries.takenEver else { break }
            guard case .change(let change) = request.kind else { continue }
            if let removal = change.removal {
                rows.append(removal)
                areChanges.append(false)
            }
            rows.append(change.entry.taken(at: joinedAt))
            areChanges.append(true)
        }
        while rows.count < Intake.rowsMax, let removal = ends.popFirst() { rows.append(removal) }
        guard !rows.isEmpty else { return }
        areChanges += repeatElement(false, count: rows.count - areChanges.count)
        self.rows.begin(areChanges, joinedAt: joinedAt, at: clock)
        write(rows)
    }

    /// - Parameter first: position of the first entry of the commit.
    package func entriesAreDurable(from first: LogPosition) {
        entries.endCommit(from: first)
        release()
    }

    /// - Parameter kept: for each row of the commit, if the store keeps it.
    package func rowsAreDurable(kept: [Bool]) {
        guard let changes = rows.end(kept: kept) else { return }
        changesAreDurable(changes[...])
        release()
    }

    private func changesAreDurable(_ kept: ArraySlice<Bool>) {
        var kept = kept
        for index in 0..<waiting.count {
            guard let isKept = kept.first else { break }
            guard case .change(let change) = waiting[index].kind else { continue }
            kept.removeFirst()
            waiting[index].kind = .kept(
                change.request, change.acknowledge, isKept, revives: change.entry.revivedCard)
            guard let (entry, acknowledge) = change.key else { continue }
            hold(LogEntry(now: max(entry.now, entries.newestHeld), key: entry.key, entry.body)) {
                acknowledge($0, isKept)
            }
            waiting[index].key = entries.heldEver
        }
    }

    /// Makes items ready that wait for nothing, requests before the entries that follow them.
    private func release() {
        while true {
            if !aside.isEmpty, takeAside() { continue }
            if !waiting.isEmpty, takeWaiting() { continue }
            let areRowsWritten = rows.changesSent > 0 && !rows.watch.isKnownSlow && !entries.watch.isKnownSlow
            // The cards of those rows join before the entries that are decided from here on.
            guard !areRowsWritten, let (entry, position) = entries.popDurable() else { return }
            ready.append(.durable(entry, position))
        }
    }

    /// - Returns: `false` if the first request waits for entries.
    private func takeAside() -> Bool {
        let count = aside.prefix { $0.entries <= entries.takenEver }.count
        for request in aside[..<count] {
            if case .request(let request) = request.kind { ready.append(.request(request)) }
        }
        aside.removeFirst(count)
        return count > 0
    }

    /// - Returns: `false` if the first request waits for something.
    private func takeWaiting() -> Bool {
        guard !isLoading, let first = waiting.first else { return false }
        guard first.entries <= entries.takenEver, first.key <= entries.durableEver else { return false }
        switch first.kind {
        case .change: return false
        case .kept(let request, let acknowledge, let isKept, let revived):
            // The core carries out requests after the change if callers hand them in after the answer.
            acknowledge?(isKept)
            ready.append(.kept(request, revives: revived, isKept: isKept))
            rows.noteReady()
        case .request(let request): ready.append(.request(request))
        }
        waiting.removeFirst()
        return true
    }

    /// Returns the next item to carry out.
    func take() -> Item? {
        let item = ready.popFirst()
        if case .kept(_, let revived, let isKept) = item {
            rows.noteCarriedOut()
            if let revived { ends.noteCarriedOut(revived, isKept: isKept) }
        }
        return item
    }

    /// Returns transitions of the commits of entries, of which operators get reports; called until there is none. An entry waits for rows,
    /// and for the keys of their calls, until operators know that either is slow.
    func entryTransition(at clock: MonotonicTime) -> CommitWatch.Transition? { entries.watch.transition(at: clock) }
    /// Returns transitions of the commits of rows.
    func rowTransition(at clock: MonotonicTime) -> CommitWatch.Transition? { rows.watch.transition(at: clock) }
    /// Time at which a commit becomes slow unless the disk answers; `never` if none does.
    var slowDue: MonotonicTime { min(entries.watch.deadline, rows.watch.deadline) }

    /// Answers callers of `settle` whose time is over, even if the disk takes nothing for hours.
    func withdrawSettles(at now: MonotonicTime) {
        guard settleDeadline <= now else { return }
        settleDeadline = .never
        func withdraw(_ request: CoreRequest) -> Bool {
            guard case .settle(let until, let settled) = request else { return false }
            if until > now { settleDeadline = min(settleDeadline, until) } else { settled(.unknown) }
            return until <= now
        }
        ready.removeAll { if case .request(let request) = $0 { withdraw(request) } else { false } }
        let before = waiting.count
        waiting.removeAll { if case .request(let request) = $0.kind { withdraw(request) } else { false } }
        if isLoading { questionsWaiting -= before - waiting.count }
    }

    /// Gives up all that may not be durable. The store may still write the commits that it has begun.
    ///
    /// - Returns: the requests that need no entry, and the changes of durable cards.
    func abandon() -> [CoreRequest] {
        var requests: [CoreRequest] = []
        for item in ready.elements {
            switch item {
            case .request(let request), .kept(let request, _, _): requests.append(request)
            case .durable: break
            }
        }
        // The other kept changes wait for a call whose key is not known to be durable: a caller may repeat that call.
        let durableEver = entries.durableEver
        lost += entries.abandon()
        for request in waiting.elements {
            switch request.kind {
            case .request(let request): requests.append(request)
            case .change(let change):
                change.acknowledge?(nil)
                change.key?.acknowledge(nil, false)
                lost += 1
            case .kept(_, let acknowledge, let isKept, _):
                acknowledge?(isKept)
                if request.key > durableEver { lost += 1 }
            }
        }
        for request in aside { if case .request(let request) = request.kind { requests.append(request) } }
        (ready, waiting, aside, rows, settleDeadline) = (Queue(), Queue(), [], RowCommit(), .never)
        return requests
    }
}

extension PeopleEntry {
    /// Id of the card that is to be started, or whose start is confirmed.
    fileprivate var startedCard: ActivityID? {
        switch self {
        case .start(let card): card.id
        case .replaceToken(let id, _, _, _): id
        case .follow, .move, .setPreferences, .unfollow, .removed: nil
        }
    }
}
