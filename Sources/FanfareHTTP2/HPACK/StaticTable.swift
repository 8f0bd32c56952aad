/// HPACK's static table (RFC 7541 Appendix A). Indexes count from 1.
enum StaticTable {
    static let count = 61

    static let entries: [HeaderField] = [
        (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
        (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
        (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
        ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
        ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
        ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
        ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""),
        ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""),
        ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""),
        ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""),
        ("proxy-authorization", ""), ("range", ""), ("referer", ""), ("refresh", ""), ("retry-after", ""),
        ("server", ""), ("set-cookie", ""), ("strict-transport-security", ""), ("transfer-encoding", ""),
        ("user-agent", ""), ("vary", ""), ("via", ""), ("www-authenticate", ""),
    ].map { HeaderField($0.0, $0.1) }

    /// All names and values back to back, so that reading an entry counts one reference.
    static let bytes = entries.flatMap { $0.name + $0.value }
    /// Ranges of each entry's name and value in `bytes`.
    static let places: [(name: Range<Int>, value: Range<Int>)] = {
        var end = 0
        return entries.map { entry in
            let name = end..<end + entry.name.count
            end = name.upperBound + entry.value.count
            return (name, name.upperBound..<end)
        }
    }()

    /// The entry at an index in 1...61.
    static subscript(index: Int) -> HeaderField { entries[index - 1] }

    /// Returns the index of the first entry with this name, and of the entry that also has this value, if any.
    static func find(_ field: HeaderField) -> (name: Int?, exact: Int?) {
        var name: Int?
        for (position, entry) in entries.enumerated() where entry.name == field.name {
            if name == nil { name = position + 1 }
            if entry.value == field.value { return (name, position + 1) }
        }
        return (name, nil)
    }
}
