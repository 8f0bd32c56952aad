/// A fault in the command line: what was given, and what would be right.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String
}

/// Text that follows an option on the command line, and its readings. Each reading throws a `UsageError` that names the option and the
/// form it expects.
struct OptionValue {
    let option: String
    let text: String

    func wrong(_ expected: String) -> UsageError {
        UsageError(description: "\(option) \(text): expected \(expected)")
    }

    func number(_ range: ClosedRange<Int>) throws(UsageError) -> Int { try number(range, text) }

    func number(_ range: ClosedRange<Int>, _ part: some StringProtocol) throws(UsageError) -> Int {
        guard let value = Int(part), range.contains(value) else {
            throw wrong("a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    func share() throws(UsageError) -> Double {
        guard let value = Double(text), (0...1).contains(value) else { throw wrong("a share from 0 to 1") }
        return value
    }

    func stretch() throws(UsageError) -> Stretch { try stretch(text) }

    func stretch(_ part: some StringProtocol) throws(UsageError) -> Stretch {
        part.hasSuffix("ms")
            ? .milliseconds(try number(1...86_400_000, part.dropLast(2))) : .requests(try number(1...Int.max, part))
    }

    /// Returns the two numbers around the separator; `nil` without the separator.
    func pair(_ separator: String, _ range: ClosedRange<Int>) throws(UsageError) -> (Int, Int)? {
        guard let middle = text.firstRange(of: separator) else { return nil }
        return (try number(range, text[..<middle.lowerBound]), try number(range, text[middle.upperBound...]))
    }

    /// Returns the text before a `*` and the share after it: 1 without a `*`, `nil` for an invalid share.
    func shared(_ part: Substring) -> (Substring, Double?) {
        let parts = part.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return (part, 1) }
        return (parts[0], Double(parts[1]).flatMap { (0...1).contains($0) ? $0 : nil })
    }

    func answer() throws(UsageError) -> Answer {
        guard let answer = answer(text) else { throw wrong("a reason such as BadDeviceToken") }
        return answer
    }

    func answer(_ reason: some StringProtocol) -> Answer? {
        Answer.allCases.first { $0 != .accepted && $0.reason == String(reason) }
    }

    func schedule(_ range: ClosedRange<Int>) throws(UsageError) -> ValueSchedule {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count <= 2 else { throw wrong("one / at most") }
        let values = halves[0].split(separator: ",", omittingEmptySubsequences: false)
        var schedule = ValueSchedule(try number(range, values[0]))
        for value in values.dropFirst() {
            let ends = value.split(separator: "@", omittingEmptySubsequences: false)
            guard ends.count == 2 else { throw wrong("N@MS behind each comma") }
            let at = try number((schedule.steps.last?.at ?? 0) + 1...86_400_000, ends[1])
            schedule.steps.append(ValueSchedule.Step(at: at, value: try number(range, ends[0])))
        }
        if halves.count == 2 {
            guard let last = schedule.steps.last else { throw wrong("something to repeat before the /") }
            schedule.period = try number(last.at + 1...86_400_000, halves[1])
        }
        return schedule
    }
}
