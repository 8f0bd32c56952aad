import FanfareModel

/// One topic's memory: what was folded, what was shown, and what waits.
///
/// A state machine without a clock: `apply` and `fire` are told the log time. It says in `deadlines` when it wants to be
/// called again; the core's timers do the calling.
struct Topic: Sendable {
    let id: TopicID
    /// Counts up over all topics, as they begin to be remembered.
    let birth: UInt64
    private(set) var kind: TopicKind
    /// Whether an event has told the kind. Until then facts are kept and patches make the state.
    private(set) var isKindKnown: Bool
    private(set) var kindRules: KindRules
    var rules: TopicRules { kindRules.rules }
    var limits: Rules.Limits { kindRules.limits }

    // What was folded.
    var ledger: FactLedger
    /// Patches, merged.
    var overlay = JSONObject()
    /// Keys of the facts' state that a patch has removed.
    var hidden: Set<String> = []
    var patchOrder = PatchOrder()
    var recentIDs: RecentIDs
    /// Greatest event time so far, as far as log time had come: what is older by more than the rules' tolerance is late.
    var newestAt: FeedTime?
    /// The usual time between two events, in milliseconds: their mean, recent ones weighing more. No `Duration`, whose arithmetic
    /// is 128 bits wide, for what every event does.
    private(set) var gapMilliseconds: Int64?
    var lag = FeedLag()
    /// When its turn began, by the time of its start, where its rules begin it afresh.
    var turnBeganAt = FeedTime.plausible.lowerBound
    private var newestNow: FeedTime?
    /// All of it together: the facts' fold, patched, as people may see it.
    var state: JSONObject { didSet { isOver = kindRules.isOver(state) } }
    /// Whether the state says so, known beforehand because every event asks.
    private(set) var isOver = false

    // What was shown.
    var published: JSONObject?
    var version: UInt32 = 0
    var startedAt: FeedTime?
    var publishedAt: FeedTime?
    var ended = false
    /// `rules.beginsWhen` held of what was published last.
    var hasBegun = false
    /// An operator lets the feed of a topic that has ended begin it again, whatever its rules say.
    var mayReopen = false
    /// Whose orders hold the topic back, and keep it silent.
    var pausedBy: OrderScope = []
    var mutedBy: OrderScope = []
    /// The next flush shows the state although everybody may have it.
    var republishes = false
    var governor: AlertGovernor

    // What waits.
    var pending = Causes()
    var deadlines = Deadlines()
    var flushAt: FeedTime? {
        get { deadlines[.flush] }
        set { deadlines[.flush] = newValue }
    }
    /// While it runs, when its feed will have been silent for too long; after its end, when it is forgotten.
    var lapseAt: FeedTime? {
        get { deadlines[.lapse] }
        set { deadlines[.lapse] = newValue }
    }

    init(_ id: TopicID, birth: UInt64, kind: TopicKind?, rules kindRules: KindRules) {
        self.id = id
        self.birth = birth
        self.kind = kind ?? .generic
        isKindKnown = kind != nil
        self.kindRules = kindRules
        let limits = kindRules.limits
        ledger = FactLedger(kind == nil ? KindUnknown() : kindRules.rules.newReducer, limits: limits)
        recentIDs = RecentIDs(capacity: limits.eventIDsMax)
        governor = AlertGovernor(kindRules.rules, limits: limits)
        state = JSONObject()
        refreshState()
    }

    /// The kind has become known: the facts kept so far are folded as that kind does it.
    mutating func adopt(_ kind: TopicKind, rules kindRules: KindRules) {
        self.kind = kind
        self.kindRules = kindRules
        isKindKnown = true
        governor = AlertGovernor(rules, limits: limits)
        ledger.refold(with: rules.newReducer)
        refreshState()
    }

    mutating func refreshState() {
        var whole = ledger.reducer.state
        if whole.isEmpty {
            whole = overlay
        } else {
            for key in hidden { whole[key] = nil }
            whole.merge(overlay)
        }
        state = kindRules.presented(whole, topic: id)
    }

    /// A state as people may see it, ready to go out.
    struct Presentation {
        let state: JSONObject
        /// As phones get it.
        let encoded: EncodedState
        /// What lineups show of it outside their spotlight.
        let short: ShortForms
    }

    func present(_ shown: JSONObject) -> Presentation {
        let own = ledger.reducer.shortForms(of: shown)
        let short = ShortForms(of: shown, topic: id, reducer: own)
        return Presentation(
            state: shown, encoded: EncodedState(own == nil ? shown : shown.with(short)), short: short)
    }

    /// As phones get it: with the short forms that the topic's kind knows, where neither rules nor feed give any (rule M3). They
    /// repeat what the state says, so they are made when it is shown, and are no reason to show it.
    func withShortForms(_ shown: JSONObject) -> JSONObject {
        ledger.reducer.shortForms(of: shown).map { shown.with(ShortForms(of: shown, topic: id, reducer: $0)) } ?? shown
    }

    /// Of a state as people may see it.
    func shortForms(of shown: JSONObject) -> ShortForms {
        ShortForms(of: shown, topic: id, reducer: ledger.reducer.shortForms(of: shown))
    }

    /// An event has come, whatever became of it.
    mutating func heard(at now: FeedTime) {
        if let newestNow, now > newestNow {
            let last = now.milliseconds - newestNow.milliseconds
            // The mean of about the last eight.
            gapMilliseconds = gapMilliseconds.map { ($0 * 7 + last) / 8 } ?? last
        }
        newestNow = now
    }

    /// Its feed has spoken, or it has been shown: from now on silence is counted.
    mutating func countSilence(from now: FeedTime) {
        lapseAt = FeedTime(
            milliseconds: now.milliseconds
                + (hasBegun ? kindRules.silenceMilliseconds : kindRules.awaitedMilliseconds))
    }

    /// As if it had never been, but for its versions, which go on counting, and for the orders of operators.
    mutating func beginAfresh() {
        var fresh = Topic(id, birth: birth, kind: isKindKnown ? kind : nil, rules: kindRules)
        fresh.version = version
        (fresh.pausedBy, fresh.mutedBy) = (pausedBy, mutedBy)
        fresh.deadlines = deadlines
        fresh.flushAt = nil
        self = fresh
    }

    /// Canonical bytes that a content state of this topic may have.
    var stateBytesMax: Int { min(limits.stateBytesMax, TopicRules.pushBytesMax - rules.attributesReserve) }

    /// Whether people would see the same in both: ignored fields may differ.
    func looksAlike(_ a: JSONObject, _ b: JSONObject) -> Bool {
        if a == b { return true }
        func isVisible(_ member: JSONObject.Member) -> Bool { !rules.fieldRules.ignored.contains(member.key) }
        var rest = b.members[...]
        for member in a.members where isVisible(member) {
            rest = rest.drop { !isVisible($0) }
            guard let other = rest.popFirst(), member.key == other.key, member.value.looksLike(other.value) else {
                return false
            }
        }
        return !rest.contains(where: isVisible)
    }
}

/// Which events a version carries, in the order in which they came. Bounded; the surplus is counted.
struct Causes: Sendable {
    private(set) var ids: [String] = []
    private(set) var unnamed = 0

    var count: Int { ids.count + unnamed }

    mutating func add(_ id: String, max: Int) {
        if ids.count < max { ids.append(id) } else { unnamed += 1 }
    }
}

/// What all topics of a kind have in common, once for all of them: a topic's own memory is small beside it. What is asked of all the
/// rules together is asked here, where they need not be copied for it.
final class KindRules: Sendable {
    let rules: TopicRules
    let limits: Rules.Limits
    /// Whether `rules.derived` makes anything.
    let hasDerived: Bool
    /// `rules.endsAfterSilence` and `rules.beginsWithin`, which every event asks for.
    let silenceMilliseconds: Int64
    let awaitedMilliseconds: Int64

    init(_ rules: TopicRules, _ limits: Rules.Limits) {
        self.rules = rules
        self.limits = limits
        hasDerived = !rules.derived.isEmpty
        silenceMilliseconds = rules.endsAfterSilence.milliseconds
        awaitedMilliseconds = rules.beginsWithin.milliseconds
    }
}

extension TopicRules {
    fileprivate var newReducer: any Reducer {
        var reducer = reducer
        reducer.follow(fields)
        return reducer
    }
}

extension JSONObject {
    fileprivate func with(_ short: ShortForms) -> JSONObject {
        var whole = self
        whole.reserveCapacity(members.count + 3)
        whole["compactLeading"] = .string(short.compactLeading)
        whole["compactTrailing"] = .string(short.compactTrailing)
        whole["minimal"] = .string(short.minimal)
        return whole
    }
}

extension JSONValue {
    /// Equal as people read it: `3` and `3.0` are.
    func looksLike(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.int, .double), (.double, .int): intValue != nil && intValue == other.intValue
        case (.array(let a), .array(let b)):
            a.count == b.count && zip(a, b).allSatisfy { $0.looksLike($1) }
        case (.object(let a), .object(let b)):
            a.members.count == b.members.count
                && zip(a.members, b.members).allSatisfy { $0.key == $1.key && $0.value.looksLike($1.value) }
        default: self == other
        }
    }
}
