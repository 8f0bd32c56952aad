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
    /// - Parameter own: the program's present rules, which have parts that no file has: limits, and reducers that a program brings along.
    package init(written text: String, like own: Rules) throws(UnreadableRules) {
        let bytes = Array(text.utf8)
        let tables: [TOMLValue.Member]
        do throws(TOMLError) {
            let name = "the rules in the store"
            try self.init(toml: bytes, name: name)
            tables = try TOMLValue.document(bytes, name: name).members ?? []
        } catch {
            throw UnreadableRules(description: "\(error)")
        }
        // `toml` writes every kind, and people write only the kinds that differ from the built-in ones.
        let written = Set(tables.map(\.key))
        kinds = kinds.filter { written.contains($0.key.rawValue) }
        limits = own.limits
        let notes = ReducerNote.Lines(bytes)
        for table in tables {
            guard let note = notes.note(of: table) else { continue }
            let kind = TopicKind(table.key)
            let rules = kind == .generic ? own.other : own.kinds[kind]
            guard let reducer = rules?.reducer, ReducerNote(of: reducer) == note else {
                throw UnreadableRules(description: "\(table.key) was decided by a program's own reducer, \(note.name)")
            }
            if kind == .generic { other.reducer = reducer } else { kinds[kind]?.reducer = reducer }
        }
    }
}
