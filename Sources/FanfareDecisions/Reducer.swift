public import FanfareModel

/// Folds facts into a content state: pure, one value per topic, one type per topic kind.
///
/// The ledger calls `fold` once per entry, in the order in which things happened and not in which they arrived, and starts
/// again from an earlier value when something late comes in. So a reducer knows nothing of lateness, and what it makes of
/// a set of facts never depends on the order of their arrival.
public protocol Reducer: Sendable {
    /// Whether facts of this kind mean something here. Others are not kept.
    func understands(factKind: String) -> Bool
    /// What is wrong with a fact of an understood kind, for people; `nil` when it can be folded.
    func fault(in fact: Fact) -> String?
    /// Takes in what happened next. Only facts that `understands` and `fault` let pass come here, each with its
    /// withdrawal at most.
    mutating func fold(_ entry: LedgerEntry)
    /// Called once, before anything is folded: how the topic's rules want fields shown that the reducer quantises itself.
    mutating func follow(_ fields: [String: FieldRule])

    /// Flat: no member is an object. Patches are merged over it.
    var state: JSONObject { get }
    /// Whether there is something to show, so that a topic can start without being told to.
    var isPresentable: Bool { get }
    /// Why the topic is over, when the facts say so.
    var ending: String? { get }

    /// A state of this kind in short, where the rules do not say; `nil`: no better than any topic's. The state may lack anything
    /// that rules hide.
    func shortForms(of state: JSONObject) -> ShortForms?

    /// What an entry amounts to, for attention: called after `entry` was folded. `before` and `shown` are the topic's state
    /// without and with it.
    func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion?
}

extension Reducer {
    /// For reducers that quantise nothing themselves: the rules' quantisers are for patches then.
    public mutating func follow(_ fields: [String: FieldRule]) {}
    /// For reducers without short forms of their own.
    public func shortForms(of state: JSONObject) -> ShortForms? { nil }
}

/// What happened, in the order in which it happened.
public enum LedgerEntry: Sendable, Hashable {
    /// The fact happened, and counts.
    case fact(Fact)
    /// The fact was withdrawn at that time. A goal's cancellation is news too, so it has a place of its own.
    case withdrawal(of: Fact, at: FeedTime)

    /// When the fact happened, or when it was withdrawn: event time.
    public var at: FeedTime {
        switch self {
        case .fact(let fact): fact.at
        case .withdrawal(_, let at): at
        }
    }

    /// Two entries at one time stand in the order of their ids; no two entries have the same position.
    static func < (a: LedgerEntry, b: LedgerEntry) -> Bool { a.position < b.position }

    private var position: (FeedTime, Int, BytewiseText) {
        switch self {
        case .fact(let fact): (fact.at, 0, BytewiseText(fact.id))
        case .withdrawal(let fact, let at): (at, 1, BytewiseText(fact.id))
        }
    }
}

/// Something that may deserve attention.
public struct Occasion: Sendable, Hashable {
    /// Under which the topic's rules say what it is worth.
    public let kind: OccasionKind
    /// The content state key that it is about.
    public let highlight: String?
    /// The reducer's words for it; rules may have others.
    public let text: AlertText?

    /// `text` is `nil` where the rules alone have words for the kind.
    public init(_ kind: OccasionKind, highlight: String?, text: AlertText?) {
        self.kind = kind
        self.highlight = highlight
        self.text = text
    }
}

/// For topics that know patches only.
public struct PatchesOnly: Reducer {
    /// Has nothing to fold, so every topic's is the same.
    public init() {}
    /// No fact means anything here: each is an `unchanged` record.
    public func understands(factKind: String) -> Bool { false }
    /// Never asked, because no fact is understood.
    public func fault(in fact: Fact) -> String? { nil }
    /// Never called, because no fact is understood.
    public mutating func fold(_ entry: LedgerEntry) {}
    /// Empty: the topic's state is its patches.
    public var state: JSONObject { JSONObject() }
    /// Facts show nothing: the first patch or a start begins the topic.
    public var isPresentable: Bool { false }
    /// The feed, or the rules' `endsWhen`, says when the topic is over.
    public var ending: String? { nil }
    /// Facts amount to nothing; the rules' `when` tells the occasions of patches.
    public func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion? { nil }
}

/// For a topic whose kind no event has told yet: keeps its facts until one does.
struct KindUnknown: Reducer {
    func understands(factKind: String) -> Bool { true }
    func fault(in fact: Fact) -> String? { nil }
    mutating func fold(_ entry: LedgerEntry) {}
    var state: JSONObject { JSONObject() }
    var isPresentable: Bool { false }
    var ending: String? { nil }
    func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion? { nil }
}
