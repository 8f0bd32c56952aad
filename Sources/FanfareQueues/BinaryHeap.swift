/// Elements of which the least comes first. Inserting an element, and removing or replacing the first, cost O(log n). The order of equal
/// elements is not defined, so a caller whose results depend on it needs a total order.
@usableFromInline package struct BinaryHeap<Element: Comparable> {
    /// Each element is at most as great as its children, which are at twice its place plus one and plus two.
    @usableFromInline var entries: [Element]

    @inlinable package init() { entries = [] }

    @inlinable package var count: Int { entries.count }
    @inlinable package var first: Element? { entries.first }
    /// All elements, in no particular order.
    @inlinable package var elements: [Element] { entries }

    @inlinable package mutating func insert(_ element: Element) {
        entries.append(element)
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child] < entries[parent] else { break }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// - Returns: `nil` if the heap is empty.
    @inlinable package mutating func removeFirst() -> Element? {
        guard let first = entries.first, let last = entries.popLast() else { return nil }
        if !entries.isEmpty { replaceFirst(with: last) }
        return first
    }

    /// - Precondition: the heap is not empty.
    @inlinable package mutating func replaceFirst(with element: Element) {
        entries[0] = element
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1] < entries[child] { child += 1 }
            guard entries[child] < entries[parent] else { break }
            entries.swapAt(child, parent)
            parent = child
        }
    }

    /// Keeps the elements for which the closure returns `true`. Costs O(n log n), and frees the memory of the others.
    @inlinable package mutating func keep(_ isWanted: (Element) -> Bool) {
        entries = entries.filter(isWanted)
        // A sorted array is a heap.
        entries.sort()
    }

    /// Describes an element that comes too late; `nil` if there is none. For checks.
    package func violation() -> String? {
        entries.indices.dropFirst().first { entries[$0] < entries[($0 - 1) / 2] }
            .map { "element \($0) of a heap of \(entries.count) is less than the one above it" }
    }
}

extension BinaryHeap: Sendable where Element: Sendable {}
