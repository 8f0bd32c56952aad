import FanfareModel

/// Judge of lines for operators: none is told twice in a minute, whatever numbers it has.
struct ToldLines {
    private var told: [String: MonotonicTime] = [:]

    /// - Returns: the fault of the line; `nil` if it may be told.
    mutating func heard(_ line: String, at now: MonotonicTime) -> String? {
        let text = String(line.prefix { $0 != "(" })
        defer { told[text] = now }
        guard let last = told[text], now - last < .seconds(59) else { return nil }
        return "told twice in a minute: \(text)"
    }
}
