public import FanfareModel

/// Reducer for topic kinds that the rules alone define: patches make the state, counters add up facts, and selected values of the
/// newest facts are kept.
///
/// The reducer understands the kinds of facts that it counts, keeps a value of, or names in `facts`. An occasion has the name of its fact's kind; the
/// occasion of a withdrawal has `Cancelled` appended.
public struct CountingReducer: Reducer {
    /// Counts the live facts of one kind.
    public struct Counter: Sendable, Hashable {
        /// Kind of the facts that count.
        public var fact: String
        /// Conditions on the fact's values; all must hold.
        public var `where`: [Condition]
        /// Key of the fact's value, a whole number, to add; `nil` adds 1.
        public var by: String?

        /// Creates a counter that adds 1 for each fact of the kind, unless `where` or `by` says otherwise.
        public init(fact: String, where: [Condition] = [], by: String? = nil) {
            self.fact = fact
            self.where = `where`
            self.by = by
        }
    }

    /// Keeps a value of the newest live fact of some kinds.
    public struct Latest: Sendable, Hashable {
        /// Kinds of the facts that bring the value.
        public var facts: Set<String>
        /// Key of the value among the fact's values. A fact without the key leaves the kept value as it was.
        public var value: String

        /// Keeps the value of the newest live fact of these kinds that has the key.
        public init(of facts: Set<String>, value: String) {
            self.facts = facts
            self.value = value
        }
    }

    /// Counters, by the content state key that shows the count.
    public let counters: [String: Counter]
    /// Kept values, by the content state key that shows the value.
    public let latest: [String: Latest]
    /// Kinds of facts that change no field but are occasions.
    public let facts: Set<String>
    private var counts: [String: Int64]
    private var kept = JSONObject()
    private var hasFacts = false

    /// Creates a reducer whose state shows a 0 for each counter from the start. Without arguments it understands no facts.
    ///
    /// - Parameters:
    ///   - counters: counters, by the content state key that shows the count.
    ///   - latest: kept values, by the content state key that shows the value.
    ///   - facts: kinds of facts that change no field but are occasions.
    public init(counters: [String: Counter] = [:], latest: [String: Latest] = [:], facts: Set<String> = []) {
        self.counters = counters
        self.latest = latest
        self.facts = facts
        counts = counters.mapValues { _ in 0 }
    }

    /// Returns `true` for the kinds that `counters`, `latest` or `facts` name.
    ///
    /// - Complexity: O(c), c being the counters and kept values.
    public func understands(factKind: String) -> Bool {
        facts.contains(factKind) || counters.values.contains { $0.fact == factKind }
            || latest.values.contains { $0.facts.contains(factKind) }
    }

    /// Returns a fault if a counted fact lacks the whole number that its counter adds, or has one of more than 40 bits.
    ///
    /// - Complexity: O(c log c), c being the counters.
    public func fault(in fact: Fact) -> String? {
        for (key, counter) in counters.sorted(by: { $0.key < $1.key }) where counter.fact == fact.kind {
            guard let by = counter.by, counter.where.hold(in: fact.values) else { continue }
            // Eight million values of the greatest size still fit in 64 bits.
            guard let value = fact.values[by]?.intValue, value.magnitude < 1 << 40 else {
                return "a \(fact.kind) needs \(by) as a whole number, for \(key)"
            }
        }
        return nil
    }

    /// Adds a fact to the counters and keeps its values. Ignores a withdrawal, whose fact the ledger has left out.
    ///
    /// - Complexity: O(c), c being the counters and kept values.
    public mutating func fold(_ entry: LedgerEntry) {
        // The ledger does not fold a withdrawn fact, so its withdrawal changes no count.
        guard case .fact(let fact) = entry else { return }
        hasFacts = true
        for (key, counter) in counters where counter.fact == fact.kind && counter.where.hold(in: fact.values) {
            counts[key, default: 0] &+= counter.by.flatMap { fact.values[$0]?.intValue } ?? 1
        }
        for (key, latest) in latest where latest.facts.contains(fact.kind) {
            if let value = fact.values[latest.value] { kept[key] = value }
        }
    }

    /// Counts and kept values, each under its key.
    ///
    /// - Complexity: O(c²) at most, c being the counters and kept values.
    public var state: JSONObject {
        var state = kept
        for (key, count) in counts { state[key] = .int(count) }
        return state
    }

    /// Is `true` from the first fact on.
    public var isPresentable: Bool { hasFacts }
    /// Always `nil`: the feed or the rules' `endsWhen` ends the topic.
    public var ending: String? { nil }

    /// Returns an occasion with the name of the fact's kind (`Cancelled` appended for a withdrawal) and without text, which is left
    /// to the rules.
    ///
    /// - Complexity: O(c), c being the counters.
    public func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion? {
        let (fact, suffix) =
            switch entry {
            case .fact(let fact): (fact, "")
            case .withdrawal(let fact, _): (fact, "Cancelled")
            }
        let changed = counters.filter { $0.value.fact == fact.kind && $0.value.where.hold(in: fact.values) }
        return Occasion(OccasionKind(fact.kind + suffix), highlight: changed.keys.min(), text: nil)
    }
}

// MARK: - Serial form

extension CountingReducer {
    /// Writes the counters themselves, too: a topic that has facts keeps its reducer when the rules change.
    func write(to writer: inout SerialWriter) {
        writer.write(all: counters.map { (BytewiseText($0.key), $0.value) }.sorted { $0.0 < $1.0 }) { writer, counter in
            writer.write(counter.0.text)
            writer.write(counter.1.fact)
            writer.write(all: counter.1.where) { $0.write($1) }
            writer.write(counter.1.by)
            writer.write(signed: counts[counter.0.text] ?? 0)
        }
        writer.write(all: latest.map { (BytewiseText($0.key), $0.value) }.sorted { $0.0 < $1.0 }) { writer, latest in
            writer.write(latest.0.text)
            writer.write(all: latest.1.facts.map { BytewiseText($0) }.sorted()) { $0.write($1.text) }
            writer.write(latest.1.value)
        }
        writer.write(all: facts.map { BytewiseText($0) }.sorted()) { $0.write($1.text) }
        writer.write(kept)
        writer.write(hasFacts)
    }

    init(reading reader: inout SerialReader) throws(SerialError) {
        var counters: [String: Counter] = [:]
        var counts: [String: Int64] = [:]
        for _ in 0..<(try reader.count()) {
            let key = try reader.text()
            let fact = try reader.text()
            let conditions = try reader.all { (reader) throws(SerialError) in try reader.condition() }
            counters[key] = Counter(fact: fact, where: conditions, by: try reader.optionalText())
            counts[key] = try reader.signed()
        }
        var latest: [String: Latest] = [:]
        for _ in 0..<(try reader.count()) {
            let key = try reader.text()
            let facts = try reader.all { (reader) throws(SerialError) in try reader.text() }
            latest[key] = Latest(of: Set(facts), value: try reader.text())
        }
        let facts = try reader.all { (reader) throws(SerialError) in try reader.text() }
        self.init(counters: counters, latest: latest, facts: Set(facts))
        self.counts = counts
        kept = try reader.object()
        hasFacts = try reader.flag("facts")
    }
}

extension SerialWriter {
    fileprivate mutating func write(_ condition: Condition) {
        write(condition.key)
        switch condition.test {
        case .oneOf(let values):
            write(byte: 0)
            write(all: values) { $0.write($1) }
        case .atLeast(let bound):
            write(byte: 1)
            write(fixed: bound.bitPattern)
        case .atMost(let bound):
            write(byte: 2)
            write(fixed: bound.bitPattern)
        case .present(let isPresent):
            write(byte: 3)
            write(isPresent)
        }
    }
}

extension SerialReader {
    fileprivate mutating func condition() throws(SerialError) -> Condition {
        let key = try text()
        switch try byte() {
        case 0: return Condition(key, .oneOf(try all { (reader) throws(SerialError) in try reader.value() }))
        case 1: return Condition(key, .atLeast(Double(bitPattern: try fixed64())))
        case 2: return Condition(key, .atMost(Double(bitPattern: try fixed64())))
        case 3: return Condition(key, .present(try flag("condition")))
        default: throw .malformed("condition")
        }
    }
}
