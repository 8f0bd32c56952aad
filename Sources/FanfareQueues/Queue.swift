/// FIFO queue of any length. The head advances, and both ends cost O(1).
///
/// The oldest elements are an array of at most `SegmentedArray.segmentCapacity` elements, unless the queue was made of a larger one. The array is
/// compacted once half of it is consumed. Later elements wait in segments of that size, of which none moves as the queue grows or shrinks.
@usableFromInline package struct Queue<Element> {
    /// The oldest elements, behind those that are consumed; empty only if the queue is.
    @usableFromInline var entries: [Element]
    @usableFromInline var head = 0
    /// Segments behind `entries`, all of which are full but the last; none of them is empty.
    @usableFromInline var later: [[Element]] = []

    @inlinable package init(_ elements: [Element] = []) { entries = elements }

    @inlinable package var isEmpty: Bool { head == entries.count }
    @inlinable package var count: Int {
        let last = later.count - 1
        return entries.count - head
            + (last < 0 ? 0 : (last << SegmentedArray<Element>.segmentBits) + later[last].count)
    }
    @inlinable package var first: Element? { isEmpty ? nil : entries[head] }

    /// Elements, oldest first.
    @inlinable package var elements: some RandomAccessCollection<Element> { (0..<count).lazy.map { self[$0] } }

    /// The element that many places behind the first.
    @inlinable package subscript(place: Int) -> Element {
        get {
            let index = head + place
            guard index >= entries.count else { return entries[index] }
            let (segment, offset) = Queue.place(index - entries.count)
            return later[segment][offset]
        }
        set {
            let index = head + place
            guard index >= entries.count else { return entries[index] = newValue }
            let (segment, offset) = Queue.place(index - entries.count)
            later[segment][offset] = newValue
        }
    }

    /// Returns the segment of a later element, and the element's place there.
    ///
    /// - Parameter index: number of the later elements before it.
    @inlinable package static func place(_ index: Int) -> (segment: Int, offset: Int) {
        (index >> SegmentedArray<Element>.segmentBits, index & (SegmentedArray<Element>.segmentCapacity - 1))
    }

    @inlinable package mutating func append(_ element: Element) {
        let capacity = SegmentedArray<Element>.segmentCapacity
        if later.isEmpty, entries.count < capacity { return entries.append(element) }
        if later.isEmpty || later[later.count - 1].count == capacity {
            var added: [Element] = []
            added.reserveCapacity(capacity)
            later.append(added)
        }
        later[later.count - 1].append(element)
    }

    @inlinable package mutating func removeFirst() {
        head += 1
        if head == entries.count {
            if later.isEmpty { entries.removeFirst(head) } else { entries = later.removeFirst() }
            head = 0
        } else if head > 1024, head * 2 > entries.count, entries.count <= SegmentedArray<Element>.segmentCapacity {
            entries.removeFirst(head)
            head = 0
        }
    }

    @inlinable package mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        guard later.isEmpty else {
            var kept = Queue()
            for element in elements where !isUnwanted(element) { kept.append(element) }
            self = kept
            return
        }
        entries.removeFirst(head)
        head = 0
        entries.removeAll(where: isUnwanted)
    }

    /// Exchanges the first element with any of them.
    @inlinable package mutating func drawFirst(by random: UInt64) {
        guard count > 1, let first else { return }
        let place = Int(random % UInt64(count))
        self[0] = self[place]
        self[place] = first
    }

    @inlinable package mutating func popFirst() -> Element? {
        guard let first else { return nil }
        removeFirst()
        return first
    }
}

extension Queue: Sendable where Element: Sendable {}
