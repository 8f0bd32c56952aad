/// First in, first out; the head moves on and the array is cut when half of it is behind, so both ends cost O(1).
struct Queue<Element> {
    private var entries: [Element] = []
    private var head = 0

    var isEmpty: Bool { head == entries.count }
    var count: Int { entries.count - head }
    var first: Element? { isEmpty ? nil : entries[head] }

    mutating func append(_ element: Element) { entries.append(element) }

    mutating func removeFirst() {
        head += 1
        if head == entries.count || head > 1024 && head * 2 > entries.count {
            entries.removeFirst(head)
            head = 0
        }
    }
}
