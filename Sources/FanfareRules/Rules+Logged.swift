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
        let written: Set<String>
        do throws(TOMLError) {
            let (bytes, name) = (Array(text.utf8), "the rules in the store")
            try self.init(toml: bytes, name: name)
            written = Set((try TOMLValue.document(bytes, name: name).members ?? []).map(\.key))
        } catch {
            throw UnreadableRules(description: "\(error)")
        }
        // `toml` writes every kind, and people write only the kinds that differ from the built-in ones.
        kinds = kinds.filter { written.contains($0.key.rawValue) }
        limits = own.limits
        for (table, name) in Rules.programReducers(in: text) {
            let kind = TopicKind(table)
            let rules = kind == .generic ? own.other : own.kinds[kind]
            guard let reducer = rules?.reducer, "\(type(of: reducer))" == name else {
                throw UnreadableRules(description: "\(table) was decided by a program's own reducer, \(name)")
            }
            if kind == .generic { other.reducer = reducer } else { kinds[kind]?.reducer = reducer }
        }
    }

    /// Returns the tables whose reducers are a program's own, with the names of the reducers' types.
    private static func programReducers(in text: String) -> [(table: String, name: String)] {
        var table = ""
        return text.split(separator: "\n").compactMap { line in
            if line.hasPrefix("["), line.hasSuffix("]") {
                table = line.dropFirst().dropLast().filter { $0 != "\"" }
            }
            guard line.hasPrefix(TopicRules.reducerNote) else { return nil }
            return (table, String(line.dropFirst(TopicRules.reducerNote.count).prefix { $0 != "," }))
        }
    }
}
