package import FanfareDecisions
import FanfareModel
import FanfareTOML

/// Fault of rules that `Rules.toml` of another release wrote.
package struct UnreadableRules: Error, CustomStringConvertible {
    package let description: String
}

extension Rules {
    /// Reads rules that `toml` wrote, such as those of a log.
    ///
    /// - Parameter own: the program's present rules, which have what no file says: limits, and reducers that a program brings along.
    package init(written text: String, like own: Rules) throws(UnreadableRules) {
        let written: Set<String>
        do throws(TOMLError) {
            let (bytes, file) = (Array(text.utf8), "the rules in the store")
            try self.init(toml: bytes, file: file)
            written = Set((try TOMLValue.document(bytes, file: file).members ?? []).map(\.key))
        } catch {
            throw UnreadableRules(description: "\(error)")
        }
        // `toml` writes every kind, and a file that people write only those that differ from the built-in ones.
        kinds = kinds.filter { written.contains($0.key.rawValue) }
        limits = own.limits
        for (kind, rules) in own.kinds where NamedReducer.name(of: rules.reducer) == nil {
            kinds[kind]?.reducer = rules.reducer
        }
        if NamedReducer.name(of: own.other.reducer) == nil { other.reducer = own.other.reducer }
    }
}
