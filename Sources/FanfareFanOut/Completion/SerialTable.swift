/// A table of values by the serials of publications. Serials count up, so the present ones are mostly close together: each has a row, and
/// no serial is hashed. A value that outlasts many later ones moves to a dictionary, so that the number of rows is bounded by the number
/// of values and not by the age of the oldest.
@usableFromInline package struct SerialTable<Value> {
    /// Values of consecutive serials, the first of which is `base`; `nil` for a serial without a value.
    @usableFromInline var rows: [Value?] = []
    @usableFromInline var base: UInt64 = 0
    /// Index of the first row that may have a value; all before it are `nil`.
    @usableFromInline var head = 0
    @usableFromInline var strays: [UInt64: Value] = [:]
    @usableFromInline package private(set) var count = 0

    /// Number of rows up to which no value moves to the dictionary.
    @usableFromInline static var rowsMin: Int { 1024 }
    /// A serial this far beyond the last row goes to the dictionary.
    @usableFromInline static var gapMax: UInt64 { 64 }

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { count == 0 }

    /// - Parameter serial: a serial that has no value.
    @inlinable package mutating func insert(_ value: Value, at serial: UInt64) {
        count += 1
        if head == rows.count { startAfresh(at: serial) }
        let next = base &+ UInt64(truncatingIfNeeded: rows.count)
        guard serial >= next, serial &- next < SerialTable.gapMax else {
            strays[serial] = value
            return
        }
        for _ in next..<serial { rows.append(nil) }
        rows.append(value)
        while rows.count &- head > SerialTable.rowsMin &+ 4 &* count { putAside() }
    }

    @inlinable package subscript(serial: UInt64) -> Value? {
        if let row = row(of: serial), let value = rows[row] { return value }
        return strays.isEmpty ? nil : strays[serial]
    }

    /// - Returns: the result of `change`; `nil` if the serial has no value.
    @inlinable package mutating func update<Result>(
        _ serial: UInt64, _ change: (inout Value) -> Result
    ) -> Result? {
        if let row = row(of: serial), rows[row] != nil {
            return change(&rows[row]!)  // checked above
        }
        // A serial inserted after greater ones is in the dictionary, even if its row is in range.
        guard !strays.isEmpty, let index = strays.index(forKey: serial) else { return nil }
        return change(&strays.values[index])
    }

    @discardableResult @inlinable package mutating func remove(_ serial: UInt64) -> Value? {
        var value: Value?
        if let row = row(of: serial), rows[row] != nil {
            value = rows[row].take()
            trim()
        } else if !strays.isEmpty {
            value = strays.removeValue(forKey: serial)
        }
        if value != nil { count -= 1 }
        return value
    }

    @inlinable func row(of serial: UInt64) -> Int? {
        let offset = serial &- base
        guard offset < UInt64(truncatingIfNeeded: rows.count) else { return nil }
        let row = Int(truncatingIfNeeded: offset)
        return row < head ? nil : row
    }

    @usableFromInline mutating func startAfresh(at serial: UInt64) {
        rows.removeAll(keepingCapacity: true)
        head = 0
        base = serial
    }

    /// Moves the first row's value to the dictionary.
    @usableFromInline mutating func putAside() {
        if let value = rows[head].take() { strays[base &+ UInt64(head)] = value }
        trim()
    }

    @inlinable mutating func trim() {
        while head < rows.count, rows[head] == nil { head &+= 1 }
        if head >= 1024, head &* 2 > rows.count, head < rows.count { cut() }
    }

    @usableFromInline mutating func cut() {
        rows.removeFirst(head)
        base &+= UInt64(head)
        head = 0
    }

    // For checks.
    /// All values, in no particular order.
    package var all: [(serial: UInt64, value: Value)] {
        rows.enumerated().compactMap { row, value in value.map { (base &+ UInt64(row), $0) } }
            + strays.map { ($0.key, $0.value) }
    }
    /// Number of rows in use.
    package var room: Int { rows.count - head }

    package func violation() -> String? {
        guard all.count == count else { return "\(count) serials are counted, \(all.count) are known" }
        guard rows.prefix(head).allSatisfy({ $0 == nil }) else { return "a serial is known that is not found" }
        guard room <= SerialTable.rowsMin + 4 * count + Int(SerialTable.gapMax) else {
            return "\(room) rows for \(count) serials"
        }
        return nil
    }
}

extension SerialTable: Sendable where Value: Sendable {}
