import FanfareLog

/// The rules that a recall has adopted so far, and what they change.
struct RecalledRules {
    /// Relation of rules in the log to the rules before them.
    enum Adoption { case asTheFirst, asTheSame, asOthers }

    private var rules: LogRules?
    /// Position of the newest rules under which topics may show other states than before; `nil` without any.
    private(set) var changedAt: LogPosition?
    /// Is `true` once an entry has been decided. From a checkpoint on, none may be.
    var hasDecided = false

    /// Notes rules that hold from an entry on.
    mutating func adopt(_ adopted: LogRules, at position: LogPosition) -> Adoption {
        defer { rules = adopted }
        guard let rules else { return .asTheFirst }
        // A release that has decided no entry again has decided none otherwise.
        guard rules.text != adopted.text || hasDecided else { return .asTheSame }
        changedAt = position
        return .asOthers
    }
}
