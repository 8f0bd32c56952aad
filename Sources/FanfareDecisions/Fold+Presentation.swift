import FanfareModel

/// A visible state, ready for publication.
struct Presentation {
    let state: JSONObject
    /// State in the encoding that phones get.
    let encoded: EncodedState
    /// Source of the short forms, which a lineup shows while the topic is outside its spotlight.
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

    /// Adds the short forms of the topic's kind to a visible state, unless rules or feed give some (rule M3). They repeat the
    /// state, so they are made when it is shown and never cause an update.
    func withShortForms(_ shown: JSONObject) -> JSONObject {
        ledger.reducer.shortForms(of: shown).map { shown.with(ShortForms(of: shown, topic: topic, reducer: $0)) }
            ?? shown
    }

    /// Returns the short forms of a visible state.
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
