/// Bytes that come in parts, as lines. A line waits for its line feed.
struct LineBuffer {
    private var rest: [UInt8] = []

    mutating func take(_ bytes: some Collection<UInt8>) -> [String] {
        rest += bytes
        guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let lines = rest[...end].split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        rest.removeFirst(end + 1)
        return lines
    }
}
