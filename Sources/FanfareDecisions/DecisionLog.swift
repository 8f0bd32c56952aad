public import FanfareModel

extension DecisionRecord {
    /// Appends the record as one line of the decision log (NDJSON). Fields are in a fixed order and absent ones are left out, so
    /// equal records have equal bytes.
    ///
    /// - Complexity: O(n), n being the bytes that are appended.
    public func write(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "{\"type\":".utf8)
        JSONValue.write(origin.rawValue, to: &bytes)
        func field(_ name: StaticString) {
            bytes.append(contentsOf: ",\"".utf8)
            name.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: "\":".utf8)
        }
        func field(_ name: StaticString, _ value: String?) {
            guard let value else { return }
            field(name)
            JSONValue.write(value, to: &bytes)
        }
        func field(_ name: StaticString, _ value: UInt64?) {
            guard let value else { return }
            field(name)
            bytes.append(contentsOf: String(value).utf8)
        }
        func field(_ name: StaticString, _ value: FeedTime?) {
            guard let value else { return }
            field(name)
            bytes.append(UInt8(ascii: "\""))
            value.write(to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        }
        field("topic", topic?.rawValue)
        field("at", at)
        field("now", now)
        field("id", id)
        field("seq", seq)
        field("kind", kind)
        field("outcome", outcome.rawValue)
        field("version", version.map(UInt64.init))
        if !causes.isEmpty {
            field("causes")
            JSONValue.array(causes.map(JSONValue.string)).write(to: &bytes)
        }
        field("reason", reason)
        field("alert", alert?.rawValue)
        field("alertReason", alertReason)
        bytes.append(contentsOf: "}\n".utf8)
    }
}

extension TopicView {
    /// Appends the topic as one line of a states file (NDJSON).
    package func write(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "{\"topic\":".utf8)
        JSONValue.write(id.rawValue, to: &bytes)
        bytes.append(contentsOf: ",\"version\":\(version),\"ended\":\(ended),\"state\":".utf8)
        state.write(to: &bytes)
        bytes.append(contentsOf: ",\"published\":".utf8)
        if let published { published.write(to: &bytes) } else { bytes.append(contentsOf: "null".utf8) }
        if let short {
            let forms: JSONObject = [
                "compactLeading": .string(short.compactLeading), "compactTrailing": .string(short.compactTrailing),
                "minimal": .string(short.minimal),
            ]
            bytes.append(contentsOf: ",\"short\":".utf8)
            forms.write(to: &bytes)
        }
        bytes.append(contentsOf: "}\n".utf8)
    }
}
