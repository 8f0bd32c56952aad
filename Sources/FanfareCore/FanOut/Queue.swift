/// First in, first out; the head moves on and the array is cut when half of it is behind, so both ends cost O(1).
struct Queue<Element> {
    private var entries: [Element]
    private var head = 0

    init(_ elements: [Element] = []) { entries = elements }

    var isEmpty: Bool { head == entries.count }
    var count: Int { entries.count - head }
    var first: Element? { isEmpty ? nil : entries[head] }

    /// First in, first.
    var elements: ArraySlice<Element> { entries[head...] }

    mutating func append(_ element: Element) { entries.append(element) }

    mutating func removeFirst() {
        head += 1
        if head == entries.count || head > 1024 && head * 2 > entries.count {
            entries.removeFirst(head)
            head = 0
        }
    }

    mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        entries.removeFirst(head)
        head = 0
        entries.removeAll(where: isUnwanted)
    }

    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        removeFirst()
        return first
    }
}

extension Queue: Sendable where Element: Sendable {}
