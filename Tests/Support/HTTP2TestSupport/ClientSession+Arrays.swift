import FanfareHTTP2

extension ClientSession {
    /// Takes at most `limit` bytes of the output.
    package mutating func drain(_ limit: Int = .max) -> [UInt8] {
        let bytes = withOutput { Array($0.prefix(limit)) }
        take(bytes.count)
        return bytes
    }

    package mutating func receive(_ bytes: [UInt8]) { bytes.withUnsafeBytes { receive($0) } }
}
