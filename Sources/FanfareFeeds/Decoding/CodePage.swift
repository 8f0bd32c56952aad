import Foundation

/// Decoder for text of unknown encoding: UTF-8 or UTF-16 if it is valid as that, otherwise the old code page of the country whose
/// letters it has.
enum CodePage {
    static func text(_ bytes: [UInt8]) -> String {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return String(data: Data(bytes), encoding: .utf16) ?? ""
        }
        let body = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        if let text = String(validating: body, as: UTF8.self) { return text }
        return String(data: Data(body), encoding: encoding(of: body)) ?? String(decoding: body, as: UTF8.self)
    }

    private static func encoding(of bytes: ArraySlice<UInt8>) -> String.Encoding {
        var high = [Int](repeating: 0, count: 256)
        var pairs = 0
        var before: UInt8 = 0
        for byte in bytes where byte >= 0x80 || before >= 0x80 {
            if byte >= 0xC0, before >= 0xC0 { pairs += 1 }
            if byte >= 0x80 { high[Int(byte)] += 1 }
            before = byte
        }
        let letters = high[0xC0...].reduce(0, +)
        // In Latin languages accented letters stand alone; Cyrillic and Greek words consist of non-ASCII letters.
        if letters >= 4, 2 * pairs > letters {
            // Decides by the commonest letters: Cyrillic а о и read as ΰ ξ θ in Greek, and Greek α ο ι read as б п й.
            func count(_ letters: [Int]) -> Int { letters.reduce(0) { $0 + high[$1] + high[$1 - 0x20] } }
            return count([0xE1, 0xEF, 0xE9]) > count([0xE0, 0xEE, 0xE8]) ? .windowsCP1253 : .windowsCP1251
        }
        // Ł Ą Ż ł ą ş ż Ľ ľ Ś Ť Ź ś ť ź of Central Europe are symbols in the Western code page, and occur in no name there.
        let central: [UInt8] = [
            0xA3, 0xA5, 0xAF, 0xB3, 0xB9, 0xBA, 0xBF, 0xBC, 0xBE, 0x8C, 0x8D, 0x8F, 0x9C, 0x9D, 0x9F,
        ]
        if central.contains(where: { high[Int($0)] > 0 }) { return .windowsCP1250 }
        // à ã å ê of the Western code page are ŕ ă ĺ ę in the Central European one, where they hardly ever occur without one of the
        // letters above.
        return [0xE0, 0xE3, 0xE5, 0xEA].contains { high[$0] > 0 } ? .windowsCP1252 : .windowsCP1250
    }
}
