import FanfareCore

extension FeedFormat {
    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// Enough for a few lines, or for the first record of a document.
    private static let headBytes = 1 << 16

    /// What a file's first bytes look like; `nil` when like no format we know.
    init?(recognising path: String) throws(FeedError) {
        let head = try ByteFile.prefix(of: path, limit: FeedFormat.headBytes)
        guard let format = FeedFormat(head: head) else { return nil }
        self = format
    }

    init?(head: [UInt8]) {
        if FeedFormat.looksNative(head) {
            self = .native
        } else {
            return nil
        }
    }

    /// One of the first lines is an object with a topic. Not just the first one: a feed whose first line is broken is a
    /// feed with a broken line.
    private static func looksNative(_ head: [UInt8]) -> Bool {
        let parser = JSONParser()
        return head.split(separator: UInt8(ascii: "\n")).prefix(20).contains { line in
            let hasTopic = try? parser.parse(Array(line)) { $0["topic"]?.isString == true }
            return hasTopic == true
        }
    }
}
