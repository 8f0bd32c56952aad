import FanfareQueues

/// Copies of columns in code that is optimised, as tests are not: there a value's life ends with its last use.
package enum ColumnCopies {
    /// Changes every element of a column that has a copy.
    ///
    /// - Returns: the sums of the copy's elements, which were 1, and of the changed ones, which are 2.
    @inline(never) package static func change(count: Int) -> (ofCopy: UInt64, ofColumn: UInt64) {
        var column = GrowingColumn<UInt64>(repeating: 1, count: count)
        let copy = column
        for place in column.indices { column[place] = 2 }
        return (sum(copy), sum(column))
    }

    /// Drops a column, and reads a copy that nothing else keeps.
    ///
    /// - Returns: the copy's last element, which is 7.
    @inline(never) package static func readLast(count: Int) -> UInt64 {
        var column = GrowingColumn<UInt64>(repeating: 7, count: count)
        let copy = column
        column = GrowingColumn()
        return copy[count - 1] + UInt64(column.count)
    }

    private static func sum(_ column: GrowingColumn<UInt64>) -> UInt64 {
        column.indices.reduce(0) { $0 + column[$1] }
    }
}
