import FanfareModel

/// Rules shared by all topics of a kind, stored once because a topic's own memory is small beside them. Functions of the rules as a
/// whole are here, so that callers need not copy the rules.
final class KindRules: Sendable {
    let rules: TopicRules
    let limits: Rules.Limits
    /// Is `true` when `rules.content.derived` has a template.
    let hasDerived: Bool
    /// `endsAfterSilence` of the lifetime in milliseconds, stored like its `beginsWithin` because every event reads it.
    let silenceMilliseconds: Int64
    let awaitedMilliseconds: Int64
    /// A ledger without facts of a topic of this kind.
    let blankLedger: FactLedger.Blank
    /// A ledger without facts of a topic of unknown kind, which follows these rules until its kind is known.
    let unknownLedger: FactLedger.Blank

    init(_ rules: TopicRules, _ limits: Rules.Limits) {
        self.rules = rules
        self.limits = limits
        hasDerived = !rules.content.derived.isEmpty
        silenceMilliseconds = rules.lifetime.endsAfterSilence.milliseconds
        awaitedMilliseconds = rules.lifetime.beginsWithin.milliseconds
        var reducer = rules.reducer
        reducer.follow(rules.content.fields)
        blankLedger = FactLedger.Blank(reducer, limits: limits)
        unknownLedger = FactLedger.Blank(KindUnknown(), limits: limits)
    }

    /// Maximum canonical size of a topic's content state, in bytes.
    var stateBytesMax: Int { min(limits.stateBytesMax, TopicRules.pushBytesMax - rules.content.attributesReserve) }

    /// Returns `true` if people would see no difference; ignored fields may differ.
    func looksAlike(_ a: JSONObject, _ b: JSONObject) -> Bool {
        if a == b { return true }
        func isVisible(_ member: JSONObject.Member) -> Bool { !rules.content.fieldRules.ignored.contains(member.key) }
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
