import FanfareModel

/// A topic's facts as a set, and their fold. Facts and withdrawals may come in any order; the fold is always that of the
/// facts which live, in the order in which they happened.
///
/// Cost: O(1) for a fact that is newer than all others, one fold of the unsettled entries otherwise.
struct FactLedger: Sendable {
    enum Standing { case unknown, live, withdrawn, awaited }

    private enum Known {
        case live(FeedTime)
        case withdrawn
        /// Withdrawn at that time, before it arrived.
        case awaited(FeedTime)
    }

    /// What the entries make together.
    private(set) var reducer: any Reducer
    /// Fold of the entries that are settled: dropped for good, because there were too many.
    private var settled: any Reducer
    private(set) var settledUntil: FeedTime?
    /// In the order in which things happened.
    private var entries: [LedgerEntry] = []
    private var known: [BytewiseText: Known] = [:]
    private var awaitedCount = 0
    private let factsMax: Int
    private let awaitedMax: Int

    init(_ reducer: any Reducer, limits: Rules.Limits) {
        self.reducer = reducer
        settled = reducer
        factsMax = max(2, limits.factsMax)
        awaitedMax = limits.earlyRetractionsMax
    }

    func standing(of id: String) -> Standing {
        switch known[BytewiseText(id)] {
        case nil: .unknown
        case .live: .live
        case .withdrawn: .withdrawn
        case .awaited: .awaited
        }
    }

    /// Adds a fact whose standing is `unknown` or `awaited` and gives the entry it became: itself, or its withdrawal.
    mutating func add(_ fact: Fact) -> LedgerEntry {
        var entry = LedgerEntry.fact(fact)
        let id = BytewiseText(fact.id)
        if case .awaited(let at) = known[id] {
            awaitedCount -= 1
            known[id] = .withdrawn
            entry = .withdrawal(of: fact, at: max(at, fact.at))
        } else {
            known[id] = .live(fact.at)
        }
        insert(entry)
        return entry
    }

    /// Withdraws a live fact: the entry that says so, or `nil` when it is settled or not live.
    mutating func withdraw(_ id: String, at time: FeedTime) -> LedgerEntry? {
        let id = BytewiseText(id)
        guard case .live(let happenedAt) = known[id] else { return nil }
        // Facts of the same time stand side by side; there are seldom more than two.
        var index = firstIndex { $0.at < happenedAt }
        while index < entries.count {
            if case .fact(let fact) = entries[index], BytewiseText(fact.id) == id {
                entries.remove(at: index)
                known[id] = .withdrawn
                // Nothing is withdrawn before it happens, whatever a clock says: settled, its fact must be settled as well.
                let entry = LedgerEntry.withdrawal(of: fact, at: max(time, fact.at))
                entries.insert(entry, at: firstIndex { $0 < entry })
                refold()
                return entry
            }
            index += 1
        }
        return nil
    }

    /// Remembers that a fact is withdrawn which has not arrived; `false` when there is no room.
    mutating func await(_ id: String, withdrawnAt time: FeedTime) -> Bool {
        guard awaitedCount < awaitedMax else { return false }
        awaitedCount += 1
        known[BytewiseText(id)] = .awaited(time)
        return true
    }

    /// One fact more, and the older half would be settled.
    var isFull: Bool { entries.count >= factsMax }

    /// Folds anew with another reducer, without the facts that it cannot fold: the topic's kind has become known. Nothing has been
    /// settled before.
    mutating func refold(with reducer: any Reducer) {
        settled = reducer
        entries.removeAll { entry in
            switch entry {
            case .fact(let fact), .withdrawal(let fact, _):
                guard !reducer.understands(factKind: fact.kind) || reducer.fault(in: fact) != nil else { return false }
                known[BytewiseText(fact.id)] = nil
                return true
            }
        }
        refold()
    }

    private mutating func insert(_ entry: LedgerEntry) {
        let index = firstIndex { $0 < entry }
        entries.insert(entry, at: index)
        if index == entries.count - 1 { reducer.fold(entry) } else { refold() }
        if entries.count > factsMax { settle() }
    }

    private mutating func refold() {
        reducer = settled
        for entry in entries { reducer.fold(entry) }
    }

    /// Folds the older half for good. Its ids are forgotten: a second arrival of one is older than `settledUntil`, and a
    /// retraction of one finds nothing; it is awaited until it is settled itself, so that those do not fill an everlasting topic.
    private mutating func settle() {
        let count = entries.count / 2
        for entry in entries.prefix(count) {
            settled.fold(entry)
            // A withdrawal may have come in before what was settled already.
            settledUntil = max(entry.at, settledUntil ?? entry.at)
            switch entry {
            case .fact(let fact), .withdrawal(let fact, _): known[BytewiseText(fact.id)] = nil
            }
        }
        entries.removeFirst(count)
        // What is withdrawn had happened before: settled by now, it is not taken any more should it arrive.
        guard awaitedCount > 0, let settledUntil else { return }
        let before = known.count
        known = known.filter { _, known in if case .awaited(let at) = known { at > settledUntil } else { true } }
        awaitedCount -= before - known.count
    }

    /// Position of the first entry that is not `before`, by bisection.
    private func firstIndex(_ before: (LedgerEntry) -> Bool) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if before(entries[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// A text that equals another one when its bytes do, as ids are compared everywhere: Swift's own texts are equal, too, when they only
/// look alike, and in which order those stand may differ between two releases.
struct BytewiseText: Hashable, Comparable, Sendable {
    private let text: String

    init(_ text: String) { self.text = text }

    static func == (a: BytewiseText, b: BytewiseText) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }
    static func < (a: BytewiseText, b: BytewiseText) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

    func hash(into hasher: inout Hasher) {
        let isContiguous: Void? = text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: .init($0)) }
        if isContiguous == nil { for byte in text.utf8 { hasher.combine(byte) } }
    }
}
