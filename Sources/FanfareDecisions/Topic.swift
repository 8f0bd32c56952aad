import FanfareModel

/// One topic's memory: what was folded, what was shown, and what waits, each in a part of its own that knows nothing of the others.
///
/// A state machine without a clock: `apply` and `fire` are told the log time. It says in `agenda.deadlines` when it wants to be
/// called again; the core's timers do the calling.
struct Topic: Sendable {
    /// Counts up over all topics, as they begin to be remembered.
    let birth: UInt64
    var fold: Fold
    var arrivals: Arrivals
    var shown: Shown
    var agenda = Agenda()
    var orders = TopicOrders()
    var governor = AlertGovernor()

    var id: TopicID { fold.topic }
    var kind: TopicKind { fold.kind }
    var kindRules: KindRules { fold.kindRules }
    var rules: TopicRules { kindRules.rules }
    var limits: Rules.Limits { kindRules.limits }

    init(_ id: TopicID, birth: UInt64, kind: TopicKind?, rules kindRules: KindRules, version: UInt32 = 0) {
        self.birth = birth
        fold = Fold(id, kind: kind, rules: kindRules)
        arrivals = Arrivals(idsMax: kindRules.limits.eventIDsMax)
        shown = Shown(version: version)
    }

    /// The kind has become known.
    mutating func adopt(_ kind: TopicKind, rules kindRules: KindRules) {
        governor = AlertGovernor()
        fold.adopt(kind, rules: kindRules)
    }

    /// As if it had never been, but for its versions, which go on counting, and for the orders of operators.
    mutating func beginAfresh() {
        var fresh = Topic(
            id, birth: birth, kind: fold.isKindKnown ? kind : nil, rules: kindRules, version: shown.version)
        fresh.orders = orders
        fresh.agenda = agenda
        fresh.agenda.clear()
        self = fresh
    }

    /// Its feed has spoken, or it has been shown: from now on silence is counted.
    mutating func countSilence(from now: FeedTime) {
        agenda.lapseAt = FeedTime(
            milliseconds: now.milliseconds
                + (shown.hasBegun ? kindRules.silenceMilliseconds : kindRules.awaitedMilliseconds))
    }
}
