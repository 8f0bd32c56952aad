import FanfareJSON
import FanfareModel

extension FeedFormat {
    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// Bytes to inspect: enough for a few lines, or for the first record of a document.
    static let headSize = ByteCount.kibibytes(64)

    /// Recognises a format by a file's first bytes; `nil` if they match none.
    init?(head: [UInt8]) {
        if FeedFormat.looksNative(head) {
            self = .native
        } else if head.firstMark == UInt8(ascii: "{"), head.contains("\"matchPeriod\"") {
            self = .wyscout
        } else if head.firstMark == UInt8(ascii: "{"), head.contains("\"pbp_raw\"") {
            self = .pwhl
        } else if head.prefix(128).filter({ $0 != 0 }).firstRange(of: Array("[3DATAVOLLEYSCOUT]".utf8)) != nil {
            self = .dataVolley
        } else if head.starts(withXML: "<Event "), head.contains("EventTime=") {
            self = .dfl
        } else if FeedFormat.looksLikeAPoll(head) {
            self = .gtfsRealtime
        } else {
            return nil
        }
    }

    /// Returns `true` if field 1, the header, begins with field 1, the version: `1.0` or `2.0`.
    private static func looksLikeAPoll(_ head: [UInt8]) -> Bool {
        guard head.count > 7, head[0] == 0x0A, head[1] < 0x80, head[2] == 0x0A, head[3] == 3 else { return false }
        return head[4] == UInt8(ascii: "1") || head[4] == UInt8(ascii: "2")
    }

    /// Returns `true` if one of the first lines is an object with a topic. Not only the first one, because a feed may begin with a
    /// broken line.
    private static func looksNative(_ head: [UInt8]) -> Bool {
        let parser = JSONParser()
        return head.split(separator: UInt8(ascii: "\n")).prefix(20).contains { line in
            let hasTopic = try? parser.parse(Array(line)) { $0["topic"]?.isString == true }
            return hasTopic == true
        }
    }
}

extension [UInt8] {
    /// First byte that is neither white space nor part of a byte order mark.
    fileprivate var firstMark: UInt8? { first { $0 > UInt8(ascii: " ") && $0 < 0x80 } }

    fileprivate func contains(_ text: String) -> Bool { firstRange(of: Array(text.utf8)) != nil }

    /// Returns `true` if this is the beginning of an XML document that contains the tag.
    func starts(withXML tag: String) -> Bool { firstMark == UInt8(ascii: "<") && contains(tag) }
}
