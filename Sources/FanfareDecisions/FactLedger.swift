import FanfareModel

/// Set of a topic's facts, and their fold: nothing but a reference before the first fact, because topics of patches have none.
struct FactLedger: Sendable {
    enum Status { case unknown, live, withdrawn, awaited }

    private var blank: BlankLedger
    /// Holds one element from the first fact or retraction on.
    private var kept: [KeptFacts] = []

    init(_ blank: BlankLedger) { self.blank = blank }

    /// Fold of all facts.
    var reducer: any Reducer {
        // Yields the stored reducer, which may be large.
        _read { if kept.isEmpty { yield blank.reducer } else { yield kept[0].reducer } }
    }
    /// Time up to which facts are settled; `nil` while none are.
    var settledUntil: FeedTime? { kept.isEmpty ? nil : kept[0].settledUntil }
    /// Is `true` when one more fact would settle the older half.
    var isFull: Bool { kept.isEmpty ? false : kept[0].isFull }

    func status(of id: String) -> Status { kept.isEmpty ? .unknown : kept[0].status(of: id) }

    /// Adds a fact whose status is `unknown` or `awaited`. Returns its entry: the fact, or its withdrawal if that came first.
    mutating func add(_ fact: Fact) -> LedgerEntry {
        begin()
        return kept[0].add(fact)
    }

    /// Withdraws a live fact. Returns the entry of the withdrawal, or `nil` if the fact is settled or not live.
    mutating func withdraw(_ id: String, at time: FeedTime) -> LedgerEntry? {
        kept.isEmpty ? nil : kept[0].withdraw(id, at: time)
    }

    /// Remembers the withdrawal of a fact that has not arrived. Returns `false` if there is no room.
    mutating func await(_ id: String, withdrawnAt time: FeedTime) -> Bool {
        begin()
        return kept[0].await(id, withdrawnAt: time)
    }

    /// Folds again with the reducer of the topic's kind, which has become known, and drops the facts that it cannot fold. Nothing
    /// is settled before that.
    mutating func refold(with blank: BlankLedger) {
        self.blank = blank
        if !kept.isEmpty { kept[0].refold(with: blank.reducer) }
    }

    /// Begins with this reducer, unless there are facts already.
    mutating func adopt(_ blank: BlankLedger) { if kept.isEmpty { self.blank = blank } }

    private mutating func begin() { if kept.isEmpty { kept = [KeptFacts(blank)] } }

    /// Describes facts that contradict their order, their ids or their fold; `nil` if there are none. For tests.
    func violation() -> String? { kept.first?.violation() }
}

/// The facts of a ledger that has some. Facts and withdrawals may arrive in any order; the fold is always that of the live facts, in the
/// order in which they happened.
///
/// Cost: O(1) for a fact that is newer than all others, otherwise one fold of the unsettled entries.
private struct KeptFacts: Sendable {
    private enum Known {
        case live(FeedTime)
        case withdrawn
        /// Withdrawn before it arrived; the time is the withdrawal's.
        case awaited(FeedTime)
    }

    /// Fold of all entries, settled ones included.
    private(set) var reducer: any Reducer
    /// Fold of the settled entries, which the ledger dropped because there were too many.
    private var settled: any Reducer
    private(set) var settledUntil: FeedTime?
    /// Unsettled entries, in the order in which they happened.
    private var entries: [LedgerEntry] = []
    private var known: [BytewiseText: Known] = [:]
    private var awaitedCount = 0
    private let factsMax: Int
    private let awaitedMax: Int

    init(_ blank: BlankLedger) {
        reducer = blank.reducer
        settled = blank.reducer
        factsMax = blank.factsMax
        awaitedMax = blank.awaitedMax
    }

    func status(of id: String) -> FactLedger.Status {
        switch known[BytewiseText(id)] {
        case nil: .unknown
        case .live: .live
        case .withdrawn: .withdrawn
        case .awaited: .awaited
        }
    }

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

    mutating func withdraw(_ id: String, at time: FeedTime) -> LedgerEntry? {
        let id = BytewiseText(id)
        guard case .live(let happenedAt) = known[id] else { return nil }
        // Facts of the same time are adjacent; there are seldom more than two.
        var index = firstIndex { $0.at < happenedAt }
        while index < entries.count {
            if case .fact(let fact) = entries[index], BytewiseText(fact.id) == id {
                entries.remove(at: index)
                known[id] = .withdrawn
                // A withdrawal never precedes its fact, whatever a clock says: once it is settled, its fact must be settled, too.
                let entry = LedgerEntry.withdrawal(of: fact, at: max(time, fact.at))
                entries.insert(entry, at: firstIndex { $0 < entry })
                refold()
                return entry
            }
            index += 1
        }
        return nil
    }

    mutating func await(_ id: String, withdrawnAt time: FeedTime) -> Bool {
        guard awaitedCount < awaitedMax else { return false }
        awaitedCount += 1
        known[BytewiseText(id)] = .awaited(time)
        return true
    }

    var isFull: Bool { entries.count >= factsMax }

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

    /// Settles the older half of the entries and forgets their ids. A settled fact that arrives again is no newer than
    /// `settledUntil` and thus late. Its retraction, if newer, is awaited until `settledUntil` passes it, so such retractions do
    /// not fill up a long-lived topic.
    private mutating func settle() {
        let count = entries.count / 2
        for entry in entries.prefix(count) {
            settled.fold(entry)
            // A withdrawal may have been inserted before entries that were settled already.
            settledUntil = max(entry.at, settledUntil ?? entry.at)
            switch entry {
            case .fact(let fact), .withdrawal(let fact, _): known[BytewiseText(fact.id)] = nil
            }
        }
        entries.removeFirst(count)
        // An awaited fact is no newer than its withdrawal: once that is settled, the fact would be late, so nothing needs to await it.
        guard awaitedCount > 0, let settledUntil else { return }
        let before = known.count
        known = known.filter { _, known in if case .awaited(let at) = known { at > settledUntil } else { true } }
        awaitedCount -= before - known.count
    }

    func violation() -> String? {
        guard entries.count <= factsMax, zip(entries, entries.dropFirst()).allSatisfy({ $0 < $1 }) else {
            return "\(entries.count) facts, at most \(factsMax), are not in the order in which they happened"
        }
        let awaited = known.values.count { if case .awaited = $0 { true } else { false } }
        guard awaited == awaitedCount, known.count == entries.count + awaited, entries.allSatisfy(isKnown) else {
            return "\(known.count) ids are known of \(entries.count) facts, and \(awaitedCount) awaited ones"
        }
        return violationOfFold()
    }

    /// Returns whether an entry's id is known as what the entry is.
    private func isKnown(_ entry: LedgerEntry) -> Bool {
        switch entry {
        case .fact(let fact): if case .live(let at) = known[BytewiseText(fact.id)] { at == fact.at } else { false }
        case .withdrawal(let fact, _): if case .withdrawn = known[BytewiseText(fact.id)] { true } else { false }
        }
    }

    private func violationOfFold() -> String? {
        var again = settled
        for entry in entries { again.fold(entry) }
        guard EncodedState(again.state) == EncodedState(reducer.state), again.ending == reducer.ending else {
            return "the fold of \(entries.count) facts is another one than that of their entries"
        }
        return nil
    }

    /// Returns the position of the first entry that is not `before`, by bisection.
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

// MARK: - Serial forms

extension FactLedger {
    /// - Parameter present: ledger without facts by the topic's present rules, from which a restart begins.
    /// - Returns: `false` if the reducer has no serial form.
    func write(to writer: inout SerialWriter, _ present: BlankLedger) -> Bool {
        guard let facts = kept.first else {
            writer.write(false)
            return true
        }
        writer.write(true)
        return facts.write(to: &writer, like: present.reducer)
    }

    /// - Parameter blank: ledger without facts by the topic's present rules.
    init(reading reader: inout SerialReader, _ blank: BlankLedger) throws(SerialError) {
        self.blank = blank
        kept = try reader.flag("facts") ? [try KeptFacts(reading: &reader, like: blank.reducer)] : []
    }
}

extension KeptFacts {
    func write(to writer: inout SerialWriter, like present: any Reducer) -> Bool {
        writer.write(UInt64(factsMax))
        writer.write(signed: Int64(awaitedMax))
        writer.write(settledUntil)
        guard writer.write(settled, like: present) else { return false }
        writer.write(all: entries) { writer, entry in
            switch entry {
            case .fact(let fact):
                writer.write(byte: 0)
                writer.write(fact)
            case .withdrawal(let fact, let at):
                writer.write(byte: 1)
                writer.write(fact)
                writer.write(at)
            }
        }
        let awaited = known.compactMap { id, known -> (id: BytewiseText, at: FeedTime)? in
            if case .awaited(let at) = known { (id, at) } else { nil }
        }
        writer.write(all: awaited.sorted { $0.id < $1.id }) { writer, fact in
            writer.write(fact.id.text)
            writer.write(fact.at)
        }
        return true
    }

    /// - Parameter blank: reducer without facts by the topic's present rules, for a reducer of the embedding program.
    init(reading reader: inout SerialReader, like blank: any Reducer) throws(SerialError) {
        factsMax = max(2, Int(clamping: try reader.unsigned()))
        awaitedMax = Int(try reader.signed())
        settledUntil = try reader.optionalDecidedTime()
        settled = try reader.reducer(like: blank)
        reducer = settled
        entries = try reader.all { (reader) throws(SerialError) in
            let isWithdrawal = try reader.flag("entry")
            let fact = try reader.fact()
            return isWithdrawal ? .withdrawal(of: fact, at: try reader.decidedTime()) : .fact(fact)
        }
        for (entry, next) in zip(entries, entries.dropFirst()) where !(entry < next) {
            throw .malformed("order of facts")
        }
        for entry in entries {
            switch entry {
            case .fact(let fact):
                try check(fact)
                known[BytewiseText(fact.id)] = .live(fact.at)
            case .withdrawal(let fact, _):
                try check(fact)
                known[BytewiseText(fact.id)] = .withdrawn
            }
        }
        for (id, at) in try reader.all({ (reader) throws(SerialError) in (try reader.text(), try reader.decidedTime()) }
        ) {
            known[BytewiseText(id)] = .awaited(at)
            awaitedCount += 1
        }
        refold()
    }

    /// Our own reducers fold only faultless facts. A program's reducer may judge a fact by earlier facts, and by its release.
    private func check(_ fact: Fact) throws(SerialError) {
        guard fact.at.isPlausible else { throw .malformed("fact \(fact.id)") }
        guard reducer.isBuiltIn else { return }
        guard reducer.understands(factKind: fact.kind), reducer.fault(in: fact) == nil else {
            throw .malformed("fact \(fact.id)")
        }
    }
}
