import FanfareModel

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

    /// A fold without facts.
    var newReducer: any Reducer {
        var reducer = rules.reducer
        reducer.follow(rules.fields)
        return reducer
    }

    /// Canonical bytes that a topic's content state may have.
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
