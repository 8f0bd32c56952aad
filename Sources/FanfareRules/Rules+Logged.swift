package import FanfareDecisions
import FanfareModel
package import FanfareTOML

extension Rules {
    /// Reads rules that `toml` wrote, such as those of a log.
    ///
    /// - Parameter own: the program's present rules, which have what no file says: limits, and reducers that a program brings along.
    package init(written text: String, like own: Rules) throws(TOMLError) {
        let bytes = Array(text.utf8)
        let file = "the rules in the store"
        try self.init(toml: bytes, file: file)
        // `toml` writes every kind, and a file that people write only those that differ from the built-in ones.
        let written = Set((try TOMLValue.document(bytes, file: file).members ?? []).map(\.key))
        kinds = kinds.filter { written.contains($0.key.rawValue) }
        limits = own.limits
        for (kind, rules) in own.kinds where NamedReducer.name(of: rules.reducer) == nil {
            kinds[kind]?.reducer = rules.reducer
        }
        if NamedReducer.name(of: own.other.reducer) == nil { other.reducer = own.other.reducer }
    }
}
