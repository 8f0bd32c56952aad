/// Text that is compared by its bytes, as ids are everywhere. Swift's `String` also equates texts that only look alike, and may
/// order those differently in another release.
struct BytewiseText: Hashable, Comparable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (a: BytewiseText, b: BytewiseText) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }
    static func < (a: BytewiseText, b: BytewiseText) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

    func hash(into hasher: inout Hasher) {
        let isContiguous: Void? = unsafe text.utf8.withContiguousStorageIfAvailable {
            unsafe hasher.combine(bytes: .init($0))
        }
        if isContiguous == nil { for byte in text.utf8 { hasher.combine(byte) } }
    }
}
