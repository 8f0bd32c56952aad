/// FIFO queue. The head advances, and the array is compacted once half of it is consumed, so both ends cost O(1).
@usableFromInline package struct Queue<Element> {
    @usableFromInline var entries: [Element]
    @usableFromInline var head = 0

    @inlinable package init(_ elements: [Element] = []) { entries = elements }

    @inlinable package var isEmpty: Bool { head == entries.count }
    @inlinable package var count: Int { entries.count - head }
    @inlinable package var first: Element? { isEmpty ? nil : entries[head] }

    /// Elements, oldest first.
    @inlinable package var elements: ArraySlice<Element> { entries[head...] }

    /// The element that many places behind the first.
    @inlinable package subscript(place: Int) -> Element {
        get { entries[head + place] }
        set { entries[head + place] = newValue }
    }

    @inlinable package mutating func append(_ element: Element) { entries.append(element) }

    @inlinable package mutating func removeFirst() {
        head += 1
        if head == entries.count || head > 1024 && head * 2 > entries.count {
            entries.removeFirst(head)
            head = 0
        }
    }

    @inlinable package mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        entries.removeFirst(head)
        head = 0
        entries.removeAll(where: isUnwanted)
    }

    /// Exchanges the first element with any of them.
    @inlinable package mutating func drawFirst(by random: UInt64) {
        guard count > 1 else { return }
        entries.swapAt(head, head + Int(random % UInt64(count)))
    }

    @inlinable package mutating func popFirst() -> Element? {
        guard let first else { return nil }
        removeFirst()
        return first
    }
}

extension Queue: Sendable where Element: Sendable {}
