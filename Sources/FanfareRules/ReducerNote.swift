import FanfareDecisions
import FanfareTOML

/// Comment of a rules file in place of the key `reducer`: the kind's reducer is one that a program brings along, so it has no name in files. The
/// comment stands below the header of the kind's table. The file says nothing of such a reducer's occasions and words.
struct ReducerNote: Equatable {
    private static let (beginning, end) = ("# reducer: ", ", which a program brings along")

    /// Name of the reducer's type.
    let name: String

    init(of reducer: any Reducer) { name = "\(type(of: reducer))" }

    /// Reads a line of a rules file; `nil` if it is no such comment.
    private init?(_ line: String) {
        guard line.hasPrefix(ReducerNote.beginning), line.hasSuffix(ReducerNote.end) else { return nil }
        name = String(line.dropFirst(ReducerNote.beginning.count).dropLast(ReducerNote.end.count))
    }

    var line: String { ReducerNote.beginning + name + ReducerNote.end }

    /// Notes of a rules file, each at the line below a header.
    struct Lines {
        private let lines: [ArraySlice<UInt8>]

        init(_ bytes: [UInt8]) {
            lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        }

        /// Returns the note of a kind's table; `nil` if the table has none.
        func note(of table: TOMLValue.Member) -> ReducerNote? {
            // Lines count from 1, so this is the index of the line below.
            let index = table.keyLocation.line
            guard lines.indices.contains(index) else { return nil }
            // A line break may be CRLF.
            let line = lines[index].last == UInt8(ascii: "\r") ? lines[index].dropLast() : lines[index]
            return ReducerNote(String(decoding: line, as: UTF8.self))
        }
    }
}
