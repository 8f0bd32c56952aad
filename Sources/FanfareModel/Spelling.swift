extension String {
    /// Returns the name of which this one is probably a misspelling, or `nil` if none is similar.
    ///
    /// Bounded: no name is similar to one of more than 40 bytes.
    package func nearest(of names: some Sequence<String>) -> String? {
        guard utf8.count <= 40 else { return nil }
        // At most one typing error per three letters: two in a word of four letters make another word.
        return names.map { (name: $0, slips: slips($0.lowercased(), lowercased())) }
            .filter { $0.slips <= max(1, count / 3) }.min { $0.slips < $1.slips }?.name
    }
}

/// Returns the number of letters to insert, remove, replace or swap with a neighbour to turn one word into the other.
private func slips(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a), Array(b))
    var rows = [Array(0...b.count)]
    for i in a.indices {
        var row = [i + 1]
        for j in b.indices {
            var least = min(rows[i][j] + (a[i] == b[j] ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, rows[i - 1][j - 1] + 1) }
            row.append(least)
        }
        rows.append(row)
    }
    return rows[a.count][b.count]
}
