public import FanfareModel

/// For topic kinds that the rules alone define: patches make the state, facts are counted into it, and values of the newest
/// are kept.
///
/// Every kind of fact that is counted or kept, or that is named besides, is understood; its occasion has the fact's own name,
/// and its withdrawal that name with `Cancelled`.
public struct CountingReducer: Reducer {
    /// Counts the live facts of one kind.
    public struct Counter: Sendable, Hashable {
        /// The kind of the facts that count.
        public var fact: String
        /// Of the fact's values; all must hold.
        public var `where`: [Condition]
        /// The value that each counts for, a whole number; `nil`: 1.
        public var by: String?

        /// Counts each fact of the kind as 1 where nothing else is said.
        public init(fact: String, where: [Condition] = [], by: String? = nil) {
            self.fact = fact
            self.where = `where`
            self.by = by
        }
    }

    /// Keeps a value of the newest live fact of some kinds.
    public struct Latest: Sendable, Hashable {
        /// The kinds of fact that bring the value.
        public var facts: Set<String>
        /// Among the fact's values; a fact without it leaves what was kept.
        public var value: String

        /// The newest live fact of these kinds that has the value decides, whichever kind it is of.
        public init(of facts: Set<String>, value: String) {
            self.facts = facts
            self.value = value
        }
    }

    /// By the content state key that shows the count.
    public let counters: [String: Counter]
    /// By the content state key that shows the value.
    public let latest: [String: Latest]
    /// Kinds of facts that count for nothing and matter all the same.
    public let facts: Set<String>
    private var counts: [String: Int64]
    private var kept = JSONObject()
    private var hasFacts = false

    /// Shows a 0 for each counter from the first state on. Without arguments it understands no facts.
    ///
    /// - Parameters:
    ///   - counters: by the content state key that shows the count.
    ///   - latest: by the content state key that shows the value.
    ///   - facts: kinds that change no field and are occasions all the same.
    public init(counters: [String: Counter] = [:], latest: [String: Latest] = [:], facts: Set<String> = []) {
        self.counters = counters
        self.latest = latest
        self.facts = facts
        counts = counters.mapValues { _ in 0 }
    }

    /// Facts of the kinds that `counters`, `latest` or `facts` name.
    public func understands(factKind: String) -> Bool {
        facts.contains(factKind) || counters.values.contains { $0.fact == factKind }
            || latest.values.contains { $0.facts.contains(factKind) }
    }

    /// A counted fact without the whole number that its counter adds up, or with one of more than 40 bits.
    public func fault(in fact: Fact) -> String? {
        for (key, counter) in counters.sorted(by: { $0.key < $1.key }) where counter.fact == fact.kind {
            guard let by = counter.by, counter.where.hold(in: fact.values) else { continue }
            // Eight million of the greatest size still fit 64 bits.
            guard let value = fact.values[by]?.intValue, value.magnitude < 1 << 40 else {
                return "a \(fact.kind) needs \(by) as a whole number, for \(key)"
            }
        }
        return nil
    }

    /// Adds to the counters and keeps the newest values; a withdrawal only takes its fact out of the fold.
    public mutating func fold(_ entry: LedgerEntry) {
        // A withdrawn fact is not folded, and its withdrawal counts for nothing.
        guard case .fact(let fact) = entry else { return }
        hasFacts = true
        for (key, counter) in counters where counter.fact == fact.kind && counter.where.hold(in: fact.values) {
            counts[key, default: 0] &+= counter.by.flatMap { fact.values[$0]?.intValue } ?? 1
        }
        for (key, latest) in latest where latest.facts.contains(fact.kind) {
            if let value = fact.values[latest.value] { kept[key] = value }
        }
    }

    /// The counts and the values kept, each under its key.
    public var state: JSONObject {
        var state = kept
        for (key, count) in counts { state[key] = .int(count) }
        return state
    }

    /// From the first fact on.
    public var isPresentable: Bool { hasFacts }
    /// Counts do not say when a topic is over; the feed, or the rules' `endsWhen`, does.
    public var ending: String? { nil }

    /// Has the fact's kind for its name, with `Cancelled` behind it for a withdrawal, and no words: those are the
    /// rules'.
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
