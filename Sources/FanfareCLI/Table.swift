/// A table in plain text: the first column is left-aligned, the others are right-aligned.
struct Table {
    private var rows: [[String]]

    init(_ head: [String]) { rows = [head] }

    mutating func add(_ row: [String]) { rows.append(row) }

    var text: String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                line += column == 0 ? cell + padding : "  " + padding + cell
            }
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
