extension [UInt8] {
    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    /// Appends a decimal number without a `String`, which would cost more than the rest of a lineup's body.
    mutating func append(decimal value: Int64) {
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var first = digits.endIndex
        var rest = value.magnitude
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        if value < 0 { append(UInt8(ascii: "-")) }
        unsafe digits.span.extracting(first..<digits.endIndex).withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
