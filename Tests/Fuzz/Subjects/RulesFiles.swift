import FanfareDecisions
import FanfareRules

/// A rules file: it has faults, or rules whose text reads back as the same text.
func runRules(_ bytes: [UInt8]) {
    guard let rules = try? Rules(toml: bytes, name: "fuzz") else { return }
    let text = rules.toml
    do {
        let again = try Rules(toml: Array(text.utf8), name: "fuzz")
        promise(again.toml == text, "rules are read back otherwise: \(text)")
    } catch {
        promise(false, "the text of rules is none: \(error)")
    }
}
