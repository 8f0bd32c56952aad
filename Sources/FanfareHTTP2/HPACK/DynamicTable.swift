/// HPACK's dynamic table (RFC 7541 §2.3.2 and §4): the fields that both peers remember, newest first.
///
/// All storage is allocated once, for the largest permitted size. The bytes lie in a buffer of twice that size: entries are
/// appended at the end and dropped at the start. A full buffer is compacted: the live entries (at most half of it) move to
/// the front. So an entry is always contiguous, and the appended bytes pay for the move.
struct DynamicTable {
    private struct Entry {
        var start: Int32 = 0
        var nameCount: Int32 = 0
        var valueCount: Int32 = 0
        var size: Int { Int(nameCount + valueCount) + HPACK.entryOverhead }
    }

    /// Upper bound of `limit`.
    let capacity: Int
    /// Table size that both peers have agreed on; the oldest entries beyond it are evicted.
    private(set) var limit: Int
    private(set) var size = 0
    private(set) var count = 0
    /// Changes whenever the meaning of an index may have changed.
    private(set) var generation: UInt64 = 0

    private var bytes: [UInt8]
    private var bytesEnd = 0
    /// Ring of entries; `newest` is the position of index 0.
    private var entries: [Entry]
    private var newest = 0

    init(capacity: Int, limit: Int) {
        self.capacity = capacity
        self.limit = min(limit, capacity)
        bytes = [UInt8](repeating: 0, count: 2 * capacity)
        entries = [Entry](repeating: Entry(), count: capacity / HPACK.entryOverhead + 1)
    }

    private func entry(_ index: Int) -> Entry {
        let position = newest - index
        return entries[position < 0 ? position + entries.count : position]
    }

    /// Returns the ranges of the name and value in `storage` for the entry at `index`; 0 is the newest.
    func field(_ index: Int) -> (name: Range<Int>, value: Range<Int>)? {
        guard index < count else { return nil }
        let entry = entry(index)
        let value = Int(entry.start + entry.nameCount)
        return (Int(entry.start)..<value, value..<value + Int(entry.valueCount))
    }

    var storage: [UInt8] { bytes }

    mutating func setLimit(_ limit: Int) {
        self.limit = min(limit, capacity)
        evict(until: self.limit)
    }

    private mutating func evict(until room: Int) {
        guard size > room else { return }
        generation &+= 1
        while size > room {
            size -= entry(count - 1).size
            count -= 1
        }
    }

    /// Adds a field; a field larger than the whole table empties it (§4.4). The arguments must not point into this table,
    /// because it may evict or move them before it copies them.
    mutating func insert(name: Span<UInt8>, value: Span<UInt8>) {
        let added = name.count + value.count + HPACK.entryOverhead
        generation &+= 1
        evict(until: max(0, limit - added))
        guard added <= limit else { return evict(until: 0) }
        if bytesEnd + name.count + value.count > bytes.count { compact() }
        newest = newest + 1 == entries.count ? 0 : newest + 1
        entries[newest] = Entry(
            start: Int32(bytesEnd), nameCount: Int32(name.count), valueCount: Int32(value.count))
        store(name)
        store(value)
        count += 1
        size += added
    }

    private mutating func store(_ text: Span<UInt8>) {
        unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe text.withUnsafeBytes {
                unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[bytesEnd...]).copyMemory(from: $0)
            }
        }
        bytesEnd += text.count
    }

    private mutating func compact() {
        var end = 0
        // Oldest first: each entry moves towards the front, onto bytes that no younger entry occupies.
        for index in stride(from: count - 1, through: 0, by: -1) {
            let position = newest - index
            let slot = position < 0 ? position + entries.count : position
            let start = Int(entries[slot].start)
            let length = Int(entries[slot].nameCount + entries[slot].valueCount)
            unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[end...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
            }
            entries[slot].start = Int32(end)
            end += length
        }
        bytesEnd = end
    }

    /// Returns the index of the newest entry with this name, and of the entry that also has this value, if any; 0 is the newest.
    func find(_ field: HeaderField) -> (name: Int?, exact: Int?) {
        var name: Int?
        for index in 0..<count {
            guard let (nameRange, valueRange) = self.field(index), bytes[nameRange].elementsEqual(field.name)
            else { continue }
            if name == nil { name = index }
            if bytes[valueRange].elementsEqual(field.value) { return (name, index) }
        }
        return (name, nil)
    }

    /// Describes a wrong size, a table beyond its limit, or entries whose bytes do not follow each other; `nil` if there is none. For tests.
    func violation() -> String? {
        let entries = (0..<count).map(entry)
        let sizes = entries.reduce(0) { $0 + $1.size }
        guard sizes == size else { return "the table counts \(size) bytes, its entries have \(sizes)" }
        guard size <= limit, limit <= capacity, bytesEnd <= bytes.count else {
            return "\(size) bytes of \(limit), and \(bytesEnd) in storage, exceed the capacity of \(capacity)"
        }
        var end = bytesEnd
        for (index, entry) in entries.enumerated() {
            let start = Int(entry.start)
            guard start >= 0, start + Int(entry.nameCount + entry.valueCount) == end else {
                return "entry \(index) begins at \(start), and does not end at \(end)"
            }
            end = start
        }
        return nil
    }
}
