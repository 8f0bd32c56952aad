/// A list of few elements for each of a million audiences. It stores one or two elements inline, and allocates for more.
///
/// Elements are values without references, so the place of a removed element is not cleared.
struct ShortList<Element: BitwiseCopyable> {
    private var few: (Element?, Element?) = (nil, nil)
    /// All elements when there have been more than two; released when one is left.
    private var many: [Element] = []
    private var fewCount = 0

    init() {}
    init(_ first: Element) { append(first) }

    var count: Int { many.isEmpty ? fewCount : many.count }
    var isEmpty: Bool { count == 0 }
    var indices: Range<Int> { 0..<count }
    var first: Element? { isEmpty ? nil : self[0] }

    subscript(index: Int) -> Element {
        get {
            guard many.isEmpty else { return many[index] }
            precondition(index >= 0 && index < fewCount, "a list has no such place")
            return index == 0 ? few.0! : few.1!  // below `fewCount`
        }
        set {
            guard many.isEmpty else { return many[index] = newValue }
            precondition(index >= 0 && index < fewCount, "a list has no such place")
            if index == 0 { few.0 = newValue } else { few.1 = newValue }
        }
    }

    // For checks.
    var all: [Element] { indices.map { self[$0] } }

    mutating func append(_ element: Element) { insert(element, at: count) }

    mutating func insert(_ element: Element, at index: Int) {
        guard many.isEmpty else { return many.insert(element, at: index) }
        switch fewCount {
        case 0: few.0 = element
        case 1 where index == 1: few.1 = element
        case 1: few = (element, few.0)
        default:
            many = [few.0!, few.1!]  // `fewCount` is 2
            many.insert(element, at: index)
            fewCount = 0
            return
        }
        fewCount += 1
    }

    @discardableResult mutating func remove(at index: Int) -> Element {
        let element = self[index]
        guard many.isEmpty else {
            many.remove(at: index)
            if many.count == 1 {
                few.0 = many[0]
                fewCount = 1
                many = []
            }
            return element
        }
        if index == 0 { few.0 = few.1 }
        fewCount -= 1
        return element
    }
}
