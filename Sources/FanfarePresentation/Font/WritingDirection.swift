extension Unicode.Scalar {
    /// Is `true` for letters of scripts that are written from right to left: Hebrew, Arabic, and those beside them in Unicode's plan.
    fileprivate var isRightToLeft: Bool {
        switch value {
        case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF:
            properties.isAlphabetic
        default: false
        }
    }
}

extension Character {
    /// Is `true` for a letter written from right to left, `false` for another letter, and `nil` for digits, spaces and signs, which follow their
    /// neighbours.
    var isRightToLeft: Bool? {
        guard let scalar = unicodeScalars.first, scalar.properties.isAlphabetic else { return nil }
        return scalar.isRightToLeft
    }
}

extension StringProtocol {
    /// Is `true` for a text that begins at the right. The first letter decides, as it does for a text on a phone.
    var isRightToLeft: Bool {
        // Most texts have no letter of such a script, and no byte beyond ASCII.
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        return lazy.compactMap(\.isRightToLeft).first ?? false
    }
}
