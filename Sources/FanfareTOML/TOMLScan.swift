/// Search of a document for what toml++ is not to get, before the document is parsed: tables and arrays too deep within one another, and
/// characters beyond ASCII outside of texts and comments.
///
/// toml++ bounds nested values alone, but each dot of a key adds a table as well. Building, walking and freeing a document recurse once per
/// table or array, so 26 KB of keys and brackets would need more stack than a thread has. A bracket, a dot, a comma or a line break outside
/// of texts and comments is here what it is for toml++, up to the first byte that is no TOML; toml++ builds nothing of what follows that byte.
///
/// Where toml++ looks for blanks, it takes most characters beyond ASCII for impossible, and what it does then is undefined. No TOML has them outside
/// of texts and comments.
struct TOMLScan {
    /// Maximum depth, as counted here. No file of ours needs ten, and a thread with a small stack parses 32.
    static let depthMax = 32

    private let bytes: [UInt8]
    private var position = 0
    /// Depth at `position`: tables of headers and of dotted keys count, and so do open brackets.
    private var depth = 0
    /// Depth of the innermost open bracket, or of the last header's table.
    private var base = 0
    /// `base` outside of each open bracket.
    private var bases: [Int] = []
    private var isInHeader = false
    /// Is `true` while the line has nothing but blanks so far.
    private var beginsLine = true

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Returns the fault of the first bracket or dot beyond the maximum depth, or of the first character that may not be where it is; `nil` if there
    /// is none.
    mutating func fault() -> TOMLError.Fault? {
        while position < bytes.count {
            let start = position
            position += 1
            guard bytes[start] < 0x80 else {
                return TOMLError.Fault(
                    location(of: start),
                    "no TOML: \(character(at: start)) outside of quotation marks and comments; expected ASCII there")
            }
            take(bytes[start])
            if depth > TOMLScan.depthMax {
                return TOMLError.Fault(
                    location(of: start),
                    "more than \(TOMLScan.depthMax) tables and arrays within one another; expected a few")
            }
        }
        return nil
    }

    private mutating func take(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"): return
        case UInt8(ascii: "\n"):
            if isInHeader { base = depth }
            depth = base
            isInHeader = false
            beginsLine = true
            return
        case UInt8(ascii: "#"): skipComment()
        case UInt8(ascii: "\""), UInt8(ascii: "'"): skipText(byte)
        case UInt8(ascii: "["), UInt8(ascii: "{"): open(byte)
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
            if !isInHeader, let outer = bases.popLast() { (base, depth) = (outer, outer) }
        // A name in a header may be that of an array of tables, which adds two.
        case UInt8(ascii: "."): depth += isInHeader ? 2 : 1
        case UInt8(ascii: ","): depth = base
        default: break
        }
        beginsLine = false
    }

    private mutating func open(_ bracket: UInt8) {
        if beginsLine, bases.isEmpty, bracket == UInt8(ascii: "[") {
            isInHeader = true
            depth = 2
        } else if !isInHeader {
            bases.append(base)
            base = depth + 1
            depth = base
        }
    }

    private mutating func skipComment() {
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
    }

    /// Moves behind a text whose first quotation mark has been taken.
    private mutating func skipText(_ quote: UInt8) {
        let hasEscapes = quote == UInt8(ascii: "\"")
        if bytes[position...].starts(with: [quote, quote]) {
            position += 2
            skipLines(quote, hasEscapes: hasEscapes)
            return
        }
        // A line break ends the text, because toml++ takes none there.
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") {
            let byte = bytes[position]
            position += 1
            if byte == quote { return }
            if hasEscapes, byte == UInt8(ascii: "\\"), position < bytes.count, bytes[position] != UInt8(ascii: "\n") {
                position += 1
            }
        }
    }

    /// Moves behind a text of several lines, of which three quotation marks have been taken.
    private mutating func skipLines(_ quote: UInt8, hasEscapes: Bool) {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if hasEscapes, byte == UInt8(ascii: "\\") { position += 1 }
            guard byte == quote else { continue }
            // Three to five quotation marks end the text: it may end with two of its own.
            var count = 1
            while count < 5, position < bytes.count, bytes[position] == quote {
                count += 1
                position += 1
            }
            if count >= 3 { return }
        }
    }

    /// Returns the character that begins at a byte, with its number, because many look alike or cannot be seen.
    private func character(at index: Int) -> String {
        let end = bytes[(index + 1)...].firstIndex { !TOMLScan.continues($0) } ?? bytes.count
        guard let text = String(validating: bytes[index..<end], as: UTF8.self), let scalar = text.unicodeScalars.first
        else { return "a byte that is no UTF-8" }
        let number = String(scalar.value, radix: 16, uppercase: true)
        return "\(text) (U+\(String(repeating: "0", count: max(0, 4 - number.count)))\(number))"
    }

    private func location(of index: Int) -> TOMLLocation {
        let before = bytes[..<index]
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let characters = before[lineStart...].count(where: { !TOMLScan.continues($0) })
        return TOMLLocation(line: 1 + before.count(where: { $0 == UInt8(ascii: "\n") }), column: characters + 1)
    }

    /// Returns whether a byte, 10xxxxxx, continues a character.
    private static func continues(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
