import FanfareFeeds
import FanfareModel

/// A fault in the command line: where it is, what was given, and what would be right.
struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The words of a command line, read one after the other.
///
///     while let word = try arguments.next() {
///         switch word {
///         case .option("--seed"): seed = try arguments.value("a whole number") { UInt64($0) }
///         …
///
/// A value follows its option or is attached to it (`--seed 7`, `--seed=7`); after `--` everything is an operand.
struct Arguments {
    enum Word: Equatable { case option(String), operand(String) }

    private var rest: ArraySlice<String>
    private var option = ""
    /// Text after `=` that no call has taken yet.
    private var attached: String?
    private var optionsHaveEnded = false
    /// The rules file that has been read, because a second one would replace it without a word.
    var rulesFileGiven: String?

    init(_ words: [String]) { rest = words[...] }

    mutating func next() throws(UsageError) -> Word? {
        if let attached { throw UsageError("\(option)=\(attached): \(option) takes no value") }
        guard let word = rest.popFirst() else { return nil }
        // `-` alone is a file: standard input or output.
        guard !optionsHaveEnded, word.hasPrefix("-"), word != "-" else { return .operand(word) }
        if word == "--" {
            optionsHaveEnded = true
            return try next()
        }
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        option = String(parts[0])
        attached = parts.count == 2 ? String(parts[1]) : nil
        return .option(option)
    }

    /// The value of the option read last. `read` gives `nil` for what is not `expected`.
    mutating func value<Value>(_ expected: String, _ read: (String) -> Value?) throws(UsageError) -> Value {
        let text: String
        if let attached {
            text = attached
            self.attached = nil
        } else if let following = rest.first, !following.hasPrefix("--") {
            text = following
            rest.removeFirst()
        } else {
            throw UsageError("\(option): the value is missing; expected \(expected)")
        }
        guard let value = read(text) else { throw UsageError("\(option) \(text): expected \(expected)") }
        return value
    }

    mutating func text(_ expected: String) throws(UsageError) -> String {
        try value(expected) { $0.isEmpty ? nil : $0 }
    }

    mutating func count(_ range: ClosedRange<Int>) throws(UsageError) -> Int {
        try value("a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    mutating func format() throws(UsageError) -> FeedFormat {
        try value("one of " + FeedFormat.allCases.map(\.rawValue).joined(separator: ", "), FeedFormat.init(rawValue:))
    }

    /// A lineup: ids between commas, each once.
    mutating func topics() throws(UsageError) -> [TopicID] {
        try value("up to 64 different topic ids with commas between, as match/1001,match/1002") { text in
            let topics = text.split(separator: ",", omittingEmptySubsequences: false).map { TopicID(String($0)) }
            let isLineup = (1...64).contains(topics.count) && Set(topics).count == topics.count
            return isLineup && !topics.contains { $0.rawValue.isEmpty } ? topics : nil
        }
    }

    mutating func time() throws(UsageError) -> FeedTime {
        try value("a time such as 2026-06-13T14:00:00Z, or Unix seconds, from 1970 to 2100") { text in
            let time = FeedTime(rfc3339: text) ?? Double(text).flatMap(FeedTime.init(unixSeconds:))
            return time.flatMap { $0.isPlausible ? $0 : nil }
        }
    }
}

extension FeedTime {
    fileprivate init?(unixSeconds: Double) {
        guard let milliseconds = Int64(exactly: (unixSeconds * 1000).rounded()) else { return nil }
        self.init(milliseconds: milliseconds)
    }
}
