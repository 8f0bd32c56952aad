/// The values of one property of a table's elements, by place: an array for millions of them, which grows without moving them.
///
/// An append copies at most `copiedBytesMax` bytes, however large the column is: a megabyte, once, and less before. Reads and changes cost what they
/// cost of an array, and a copy shares the elements until either is changed. Elements are never removed, because places are used again.
///
/// ```swift
/// var marks = GrowingColumn<UInt32>()
/// marks.append(7)
/// marks[0] += 1
/// ```
///
/// The elements are values without references, so that memory can go without a look at them.
@safe @usableFromInline package struct GrowingColumn<Element: BitwiseCopyable> {
    @usableFromInline var memory: ColumnMemory?
    // Copied out of the memory, so that a read looks up the element and nothing else. An empty column has an address that nobody reads.
    @usableFromInline var base: UnsafeMutablePointer<Element>
    @usableFromInline var used = 0
    /// Number of elements that have room where they are.
    @usableFromInline var room = 0

    @inlinable package init() {
        unsafe base = UnsafeMutablePointer<Element>(bitPattern: MemoryLayout<Element>.alignment)!
    }

    @inlinable package init(repeating element: Element, count: Int) {
        self.init()
        append(repeating: element, count: count)
    }

    @inlinable package var count: Int { used }
    @inlinable package var capacity: Int { room }
    @inlinable package var isEmpty: Bool { used == 0 }
    @inlinable package var indices: Range<Int> { 0..<used }

    @inlinable package subscript(index: Int) -> Element {
        @inline(__always) get {
            precondition(index >= 0 && index < used, "a column has no such place")
            let element = unsafe base[index]
            // A copy whose last use this is must not release its memory before the read. There is no closure that has the column.
            withExtendedLifetime(memory) {}
            return element
        }
        @inline(__always) _modify {
            precondition(index >= 0 && index < used, "a column has no such place")
            if !isKnownUniquelyReferenced(&memory) { makeRoom(for: used) }
            yield unsafe &base[index]
        }
    }

    /// The elements in a range of places, for a reader that copies them at once: a change of the column, and the end of its life, which may follow
    /// its last use, release their memory. The reader extends the column's life (`withExtendedLifetime`).
    @inlinable package func elements(_ places: Range<Int>) -> UnsafeBufferPointer<Element> {
        precondition(places.lowerBound >= 0 && places.upperBound <= used, "a column has no such places")
        let elements = unsafe UnsafeMutableBufferPointer(start: base + places.lowerBound, count: places.count)
        return UnsafeBufferPointer(elements)
    }

    /// All elements, for a loop that changes many of them: while it lasts the column must not grow, nor be copied.
    @inlinable package mutating func mutableElements() -> UnsafeMutableBufferPointer<Element> {
        if !isKnownUniquelyReferenced(&memory) { makeRoom(for: used) }
        return unsafe UnsafeMutableBufferPointer(start: base, count: used)
    }

    @inlinable package mutating func append(_ element: Element) {
        if used == room || !isKnownUniquelyReferenced(&memory) { makeRoom(for: used + 1) }
        unsafe (base + used).initialize(to: element)
        used += 1
    }

    /// Appends as many elements, all of which equal the given one.
    @inlinable package mutating func append(repeating element: Element, count: Int) {
        if used + count > room || !isKnownUniquelyReferenced(&memory) { makeRoom(for: used + count) }
        unsafe (base + used).initialize(repeating: element, count: count)
        used += count
    }

    /// Replaces the elements from a place on by others.
    @inlinable package mutating func replace(from place: Int, by others: some Collection<Element>) {
        let count = others.count
        precondition(place >= 0 && count <= used - place, "a column has no such places")
        if !isKnownUniquelyReferenced(&memory) { makeRoom(for: used) }
        let places = unsafe UnsafeMutableBufferPointer(start: base + place, count: count)
        _ = unsafe places.initialize(fromContentsOf: others)
    }

    @inlinable package mutating func reserveCapacity(_ count: Int) { if count > room { makeRoom(for: count) } }

    @inlinable package func count(where isCounted: (Element) -> Bool) -> Int {
        indices.count { isCounted(self[$0]) }
    }

    /// Greatest number of bytes that the column has copied at a time.
    package var copiedBytesMax: Int { memory?.copiedMax ?? 0 }

    /// Makes room for that many elements, and makes the memory that of this column alone.
    @usableFromInline mutating func makeRoom(for needed: Int) {
        let size = MemoryLayout<Element>.stride
        if isKnownUniquelyReferenced(&memory), let memory, memory.extend(to: needed * size) {
            room = memory.size / size
            return
        }
        let larger = ColumnMemory(needed * size, after: memory, used: used * size)
        room = larger.size / size
        unsafe base = larger.base.bindMemory(to: Element.self, capacity: room)
        memory = larger
    }
}

/// `Sendable` is unchecked because the compiler does not know that a column whose memory is shared changes only a copy of it.
extension GrowingColumn: @unchecked Sendable where Element: Sendable {}
