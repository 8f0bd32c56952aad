/// Fonts for scripts that Inter lacks, of Debian's fonts-dejavu-core, fonts-noto-core and fonts-noto-cjk. Texts can be measured with the installed
/// ones.
enum ScriptFonts {
    /// Folder of the fonts, whose folders Debian's packages have.
    static let folder = "/usr/share/fonts"

    /// Scripts with a font of their own in fonts-noto-core, and the code points of their letters.
    private static let scripts: [(name: String, letters: ClosedRange<UInt32>)] = [
        ("Armenian", 0x530...0x58F), ("Devanagari", 0x900...0x97F), ("Bengali", 0x980...0x9FF),
        ("Gurmukhi", 0xA00...0xA7F), ("Gujarati", 0xA80...0xAFF), ("Oriya", 0xB00...0xB7F), ("Tamil", 0xB80...0xBFF),
        ("Telugu", 0xC00...0xC7F), ("Kannada", 0xC80...0xCFF), ("Malayalam", 0xD00...0xD7F),
        ("Sinhala", 0xD80...0xDFF), ("Thai", 0xE00...0xE7F), ("Lao", 0xE80...0xEFF), ("Myanmar", 0x1000...0x109F),
        ("Georgian", 0x10A0...0x10FF), ("Ethiopic", 0x1200...0x139F), ("Khmer", 0x1780...0x17FF),
    ]

    /// Returns the files for a weight, in the order in which they are asked. The first existing file of each font counts: the packages themselves
    /// have regular and bold, and fonts-noto-extra has the weights between.
    static func files(_ weight: Weight) -> [[String]] {
        let (dejavu, weights) =
            switch weight {
            case .medium: ("DejaVuSans", ["Medium", "Regular"])
            case .semibold: ("DejaVuSans-Bold", ["SemiBold", "Bold"])
            }
        return [["truetype/dejavu/\(dejavu).ttf"]]
            + scripts.map { script in weights.map { "truetype/noto/NotoSans\(script.name)-\($0).ttf" } }
            + [weights.map { "opentype/noto/NotoSansCJK-\($0).ttc" }]
    }

    /// Returns Debian's package with a font for the character; `nil` if it is in none of the scripts above.
    static func package(for character: Character) -> String? {
        guard let scalar = character.unicodeScalars.first else { return nil }
        if character.isEastAsian { return "fonts-noto-cjk" }
        return scripts.contains { $0.letters.contains(scalar.value) } ? "fonts-noto-core" : nil
    }
}

extension String {
    /// Is `true` for a text with emoji. Most texts have no byte beyond ASCII.
    var hasEmoji: Bool { !utf8.allSatisfy { $0 < 0x80 } && contains(where: \.isEmoji) }
}

extension Character {
    /// Is `true` for a character of the phone's font of colour pictures.
    var isEmoji: Bool { unicodeScalars.contains { $0.properties.isEmojiPresentation || $0 == "\u{FE0F}" } }

    /// Is `true` for letters of Chinese, Japanese and Korean.
    var isEastAsianLetter: Bool {
        switch unicodeScalars.first?.value ?? 0 {
        case 0x3005, 0x3041...0x3096, 0x30A1...0x30FF, 0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xAC00...0xD7A3,
            0xF900...0xFAFF, 0x20000...0x3FFFF:
            true
        default: false
        }
    }

    /// Is `true` for letters and signs of Chinese, Japanese and Korean.
    fileprivate var isEastAsian: Bool {
        switch unicodeScalars.first?.value ?? 0 {
        case 0x3000...0x303F, 0xFF00...0xFFEF: true
        default: isEastAsianLetter
        }
    }
}
