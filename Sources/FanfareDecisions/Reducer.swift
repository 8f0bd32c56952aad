public import FanfareModel

/// Part of a topic kind that folds facts into a content state. A reducer is pure: the core keeps one value per topic, of one type per topic kind.
///
/// The ledger calls `fold` once per entry, in the order in which the facts happened, and starts again from an earlier value when a late fact arrives.
/// So a reducer needs no handling of late facts, and its state never depends on their order of arrival. An engine calls its
/// reducers on the core thread.
public protocol Reducer: Sendable {
    /// Returns `true` if the reducer uses facts of this kind. The ledger keeps no others.
    func understands(factKind: String) -> Bool
    /// Returns the fault of a fact of an understood kind, for people, or `nil` if it can be folded.
    func fault(in fact: Fact) -> String?
    /// Folds the next entry. The ledger passes only facts that `understands` and `fault` accept, each as itself or as its withdrawal.
    mutating func fold(_ entry: LedgerEntry)
    /// Takes the topic's field rules, for fields that the reducer quantises itself. The core calls it once, before the first `fold`.
    mutating func follow(_ fields: [String: FieldRule])

    /// The reducer's whole memory, as bytes from which `restore` makes an equal reducer; `nil` if it has no serial form. The memory includes the
    /// fields of `follow`, because a topic that has facts keeps them when the rules change. An engine with a store writes the bytes into a
    /// checkpoint, which a later release of the program may read.
    var memory: [UInt8]? { get }
    /// Takes over the `memory` of a reducer of the same kind. The core calls it on a reducer that has folded nothing.
    ///
    /// - Returns: `false` if the bytes are not those of such a reducer.
    mutating func restore(_ memory: [UInt8]) -> Bool

    /// Content state of the facts, in which no member is an object. The core merges patches over it.
    var state: JSONObject { get }
    /// Is `true` if the state shows something, so that the topic can begin without an explicit start.
    var isPresentable: Bool { get }
    /// Reason why the topic is over according to its facts; `nil` while the topic is not over.
    var ending: String? { get }

    /// Returns short forms of a state of this kind, used if the rules have none; `nil` uses those of any topic. The state may lack fields that the
    /// rules hide.
    func shortForms(of state: JSONObject) -> ShortForms?

    /// Returns the occasion that an entry amounts to. The core calls it after it has folded `entry`; `before` and `shown` are the topic's state
    /// without and with it.
    func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion?
}

extension Reducer {
    /// Ignores the field rules. Suits reducers that quantise nothing themselves: the quantisers then apply to patches only.
    public mutating func follow(_ fields: [String: FieldRule]) {}
    /// Is `nil`: the log of an engine with a store is not trimmed while a topic has facts of this reducer.
    public var memory: [UInt8]? { nil }
    /// Returns `false`.
    public mutating func restore(_ memory: [UInt8]) -> Bool { false }
    /// Returns `nil`. Suits reducers without short forms of their own.
    public func shortForms(of state: JSONObject) -> ShortForms? { nil }
}

/// Entry of a topic's ledger, which holds them in the order in which they happened.
public enum LedgerEntry: Sendable, Hashable {
    /// A fact that happened and counts.
    case fact(Fact)
    /// A withdrawal of a fact at a time. A goal's cancellation is news too, so it has a position of its own.
    case withdrawal(of: Fact, at: FeedTime)

    /// Event time of the fact or of its withdrawal.
    public var at: FeedTime {
        switch self {
        case .fact(let fact): fact.at
        case .withdrawal(_, let at): at
        }
    }

    /// Orders entries by time, a fact before a withdrawal, then by the facts' ids; no two entries have the same position.
    static func < (a: LedgerEntry, b: LedgerEntry) -> Bool { a.position < b.position }

    private var position: (FeedTime, Int, BytewiseText) {
        switch self {
        case .fact(let fact): (fact.at, 0, BytewiseText(fact.id))
        case .withdrawal(let fact, let at): (at, 1, BytewiseText(fact.id))
        }
    }
}

/// Something that happened and may deserve attention.
public struct Occasion: Sendable, Hashable {
    /// Kind of the occasion, by which the topic's rules rate it.
    public let kind: OccasionKind
    /// Content state key that the occasion is about.
    public let highlight: String?
    /// Alert text of the reducer; the rules may replace it.
    public let text: AlertText?

    /// Creates an occasion. `text` is `nil` if only the rules have words for the kind.
    public init(_ kind: OccasionKind, highlight: String?, text: AlertText?) {
        self.kind = kind
        self.highlight = highlight
        self.text = text
    }
}

/// Reducer for topics that have patches only.
public struct PatchesOnly: Reducer {
    /// Creates a reducer without state, equal for every topic.
    public init() {}
    /// Always `false`: each fact becomes an `unchanged` record.
    public func understands(factKind: String) -> Bool { false }
    /// Always `nil`; never called, because no fact is understood.
    public func fault(in fact: Fact) -> String? { nil }
    /// Does nothing; never called, because no fact is understood.
    public mutating func fold(_ entry: LedgerEntry) {}
    /// Always empty: the patches are the topic's state.
    public var state: JSONObject { JSONObject() }
    /// Always `false`: the first patch or an explicit start begins the topic.
    public var isPresentable: Bool { false }
    /// Always `nil`: the feed or the rules' `endsWhen` ends the topic.
    public var ending: String? { nil }
    /// Always `nil`: facts are no occasions here, and the rules' `when` defines those of patches.
    public func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion? { nil }
}

/// Reducer for a topic of unknown kind. The ledger keeps its facts until an event names the kind.
struct KindUnknown: Reducer {
    func understands(factKind: String) -> Bool { true }
    func fault(in fact: Fact) -> String? { nil }
    mutating func fold(_ entry: LedgerEntry) {}
    var state: JSONObject { JSONObject() }
    var isPresentable: Bool { false }
    var ending: String? { nil }
    func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion? { nil }
}
