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
    let blankLedger: BlankLedger
    /// A ledger without facts of a topic of unknown kind, which follows these rules until its kind is known.
    let unknownLedger: BlankLedger

    init(_ rules: TopicRules, _ limits: Rules.Limits) {
        self.rules = rules
        self.limits = limits
        hasDerived = !rules.content.derived.isEmpty
        silenceMilliseconds = rules.lifetime.endsAfterSilence.milliseconds
        awaitedMilliseconds = rules.lifetime.beginsWithin.milliseconds
        var reducer = rules.reducer
        reducer.follow(rules.content.fields)
        blankLedger = BlankLedger(reducer, limits: limits)
        unknownLedger = BlankLedger(KindUnknown(), limits: limits)
    }

    /// Maximum canonical size of a topic's content state.
    var stateSizeMax: ByteCount { min(limits.stateSizeMax, TopicRules.pushSizeMax - rules.content.attributesReserve) }

    /// Returns `true` if people would see no difference; ignored fields may differ.
    func looksAlike(_ a: JSONObject, _ b: JSONObject) -> Bool {
        if a == b { return true }
        func isVisible(_ member: JSONObject.Member) -> Bool { !rules.content.fieldRules.ignored.contains(member.key) }
        // By indices: a slice that pops its members would copy each of them.
        var next = b.members.startIndex
        func skipIgnored() { while next < b.members.endIndex, !isVisible(b.members[next]) { next += 1 } }
        for index in a.members.indices where isVisible(a.members[index]) {
            skipIgnored()
            guard next < b.members.endIndex, a.members[index].key == b.members[next].key,
                a.members[index].value.looksLike(b.members[next].value)
            else { return false }
            next += 1
        }
        skipIgnored()
        return next == b.members.endIndex
    }
}

extension KindRules {
    /// Returns `values` (of a state or a fact) with the redactions applied.
    ///
    /// - Parameter state: the unredacted state, for the conditions of the redactions.
    func redacted(_ values: JSONObject, in state: JSONObject) -> JSONObject {
        var shown = values
        for (key, redaction) in rules.content.fieldRules.redactions {
            if let value = values[key] { shown[key] = redaction.shown(value, in: state) }
        }
        return shown
    }

    var hidesFields: Bool { !rules.content.fieldRules.redactions.isEmpty }

    /// Returns the state that people may see, derived fields included. Redaction comes first, so no derived field can reveal a
    /// hidden value.
    func presented(_ state: JSONObject, topic: TopicID) -> JSONObject {
        var shown = redacted(state, in: state)
        if hasDerived { rules.content.derived.add(to: &shown, topic: topic) }
        return shown
    }

    func isOver(_ state: JSONObject) -> Bool {
        !rules.lifetime.endsWhen.isEmpty && rules.lifetime.endsWhen.hold(in: state)
    }
}
