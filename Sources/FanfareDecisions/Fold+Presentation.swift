import FanfareModel

/// A state as people may see it, ready to go out.
struct Presentation {
    let state: JSONObject
    /// As phones get it.
    let encoded: EncodedState
    /// What lineups show of it outside their spotlight.
    let short: ShortFormsSource
}

extension Fold {
    func present(_ shown: JSONObject) -> Presentation {
        guard let own = ledger.reducer.shortForms(of: shown) else {
            return Presentation(state: shown, encoded: EncodedState(shown), short: .state(shown))
        }
        let short = ShortForms(of: shown, topic: topic, reducer: own)
        return Presentation(state: shown, encoded: EncodedState(shown.with(short)), short: .made(short))
    }

    /// As phones get it: with the short forms that the topic's kind knows, where neither rules nor feed give any (rule M3). They
    /// repeat what the state says, so they are made when it is shown, and are no reason to show it.
    func withShortForms(_ shown: JSONObject) -> JSONObject {
        ledger.reducer.shortForms(of: shown).map { shown.with(ShortForms(of: shown, topic: topic, reducer: $0)) }
            ?? shown
    }

    /// Of a state as people may see it.
    func shortForms(of shown: JSONObject) -> ShortForms {
        ShortForms(of: shown, topic: topic, reducer: ledger.reducer.shortForms(of: shown))
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
