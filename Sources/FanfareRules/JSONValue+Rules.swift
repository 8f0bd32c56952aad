import FanfareModel

extension JSONValue {
    /// Value in a rules file: texts, numbers and Booleans are the same in JSON and TOML.
    var inRules: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        // TOML has no U+007F in a text, and JSON need not escape it.
        let escaped = bytes.flatMap { byte -> [UInt8] in byte == 0x7F ? Array("\\u007f".utf8) : [byte] }
        return String(decoding: escaped, as: UTF8.self)
    }
}

/// Returns a text as a rules file has it.
func quoted(_ text: String) -> String { JSONValue.string(text).inRules }
