import FanfareModel

/// A content state as people see it, ready for publication.
struct VisibleState {
    let state: JSONObject
    /// State in the encoding that phones get.
    let encoded: EncodedState
    /// Source of the short forms, which a lineup shows while the topic is outside its spotlight.
    let short: ShortFormsSource
}

extension JSONObject {
    /// Returns the state with the short forms of its topic's kind.
    func with(_ short: ShortForms) -> JSONObject {
        var whole = self
        whole.reserveCapacity(members.count + 3)
        whole["compactLeading"] = .string(short.compactLeading)
        whole["compactTrailing"] = .string(short.compactTrailing)
        whole["minimal"] = .string(short.minimal)
        return whole
    }
}
