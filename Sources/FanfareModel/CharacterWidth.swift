/// Widths of characters in hundredths of a digit's: those of Inter, weight medium, by which previews measure, too. The engine keeps the
/// table instead of a font, so that a program which embeds it needs none; the tests of previews compare the two.
///
/// Each digit counts as the widest one, because a running number must not be cut now and then.
enum CharacterWidth {
    private static let basicLatin: [UInt8] = [
        41, 45, 62, 99, 100, 128, 101, 34, 58, 58, 81, 103, 45, 72, 44, 57, 100, 100, 100, 100, 100, 100, 100, 100,
        100, 100, 44, 45, 103, 103, 103, 81, 150, 108, 101, 114, 112, 93, 91, 116, 115, 42, 85, 103, 87, 139, 116,
        119, 99, 119, 100, 100, 101, 114, 108, 151, 103, 106, 99, 58, 57, 58, 74, 71, 77, 88, 97, 88, 97, 91, 57, 96,
        93, 39, 39, 86, 39, 137, 92, 93, 96, 96, 59, 83, 58, 92, 88, 128, 85, 88, 85, 58, 53, 58, 103,
    ]

    /// Latin-1 Supplement and Latin Extended-A.
    private static let extendedLatin: [UInt8] = [
        41, 45, 88, 100, 114, 86, 45, 87, 89, 142, 71, 88, 86, 72, 103, 75, 71, 103, 65, 67, 77, 99, 93, 44, 47, 49,
        71, 88, 137, 143, 148, 81, 108, 108, 108, 108, 108, 108, 155, 114, 93, 93, 93, 93, 42, 42, 42, 42, 112, 116,
        119, 119, 119, 119, 119, 103, 119, 114, 114, 114, 114, 106, 100, 97, 88, 88, 88, 88, 88, 88, 143, 88, 91, 91,
        91, 91, 39, 39, 39, 39, 91, 92, 93, 93, 93, 93, 93, 103, 93, 92, 92, 92, 92, 88, 95, 88, 108, 88, 108, 88,
        108, 88, 114, 88, 114, 88, 114, 88, 114, 88, 112, 108, 112, 97, 93, 91, 93, 91, 93, 91, 93, 91, 93, 91, 116,
        96, 116, 96, 116, 96, 116, 96, 115, 93, 122, 93, 69, 44, 42, 39, 42, 39, 42, 39, 42, 39, 127, 77, 85, 39,
        103, 86, 100, 87, 39, 87, 39, 87, 51, 88, 54, 88, 39, 116, 92, 116, 92, 116, 92, 100, 116, 93, 119, 93, 119,
        93, 119, 93, 151, 153, 100, 59, 100, 59, 100, 59, 100, 83, 100, 83, 100, 83, 100, 83, 101, 58, 101, 59, 101,
        58, 114, 92, 114, 92, 114, 92, 114, 92, 114, 92, 114, 92, 151, 128, 106, 88, 106, 99, 85, 99, 85, 99, 85, 42,
    ]

    private static let cyrillic: [UInt8] = [
        93, 93, 127, 89, 105, 100, 42, 42, 85, 170, 174, 140, 103, 116, 99, 112, 108, 102, 101, 89, 118, 93, 154,
        100, 116, 116, 103, 111, 139, 115, 119, 114, 99, 114, 101, 99, 126, 103, 119, 113, 152, 156, 126, 134, 102,
        105, 159, 105, 88, 93, 88, 71, 99, 91, 131, 78, 93, 93, 86, 92, 117, 91, 93, 91, 96, 88, 84, 88, 111, 85, 99,
        90, 129, 138, 104, 120, 88, 84, 127, 88, 91, 91, 93, 71, 86, 83, 39, 39, 39, 144, 140, 93, 86, 93, 88, 91,
    ]

    /// From the hyphen to the ellipsis.
    private static let punctuation: [UInt8] = [
        61, 61, 102, 77, 155, 155, 63, 71, 33, 31, 33, 36, 61, 61, 61, 69, 96, 85, 82, 82, 43, 85, 126, 43,
    ]

    static let ellipsis = of("\u{2026}")

    /// Returns the width of a character that begins with this scalar: marks above and below take no width of their own. Of scripts that
    /// the table lacks, most letters from U+1100 (Hangul) on fill a square, as emoji do, and those before are about as wide as a digit.
    static func of(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0x20...0x7E: Int(basicLatin[Int(scalar.value) - 0x20])
        case 0xA0...0x17F: Int(extendedLatin[Int(scalar.value) - 0xA0])
        case 0x400...0x45F: Int(cyrillic[Int(scalar.value) - 0x400])
        case 0x2010...0x2027: Int(punctuation[Int(scalar.value) - 0x2010])
        case 0x1100...: scalar.properties.generalCategory.isPunctuation ? 100 : 200
        default: 100
        }
    }
}

extension Unicode.GeneralCategory {
    fileprivate var isPunctuation: Bool {
        switch self {
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
            .finalPunctuation, .otherPunctuation:
            true
        default: false
        }
    }
}
