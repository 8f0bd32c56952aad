import Foundation

/// A match that is written to `fanfare replay -` while it happens.
struct LiveMatch {
    static let kickOff = line("k", #""kind":"period","fact":{"id":"k","kind":"period","period":"1H"}"#)

    /// Returns the home side's goal with this number.
    static func goal(_ number: Int) -> String {
        line("g\(number)", #""kind":"goal","fact":{"id":"g\#(number)","side":"home"}"#)
    }

    private static func line(_ id: String, _ rest: String) -> String {
        let now = Date().timeIntervalSince1970
        return #"{"topic":"match/1","topicKind":"football","at":\#(now),"id":"\#(id)",\#(rest)}"# + "\n"
    }

    /// Returns a follower's line of a subscriber file.
    /// - Parameter prefix: the beginning of the token, in hex.
    static func follower(_ number: Int, prefix: String) -> String {
        let digits = String(number, radix: 16)
        return "match/1 \(prefix)\(String(repeating: "0", count: 160 - prefix.count - digits.count))\(digits)\n"
    }
}

extension Program {
    /// Waits for a line of progress with these numbers of updates, and of activities that lack the newest.
    func waitUntil(updates: Int, toGo: Int, within seconds: Double = 120) throws {
        let formatter = NumberFormatter()
        formatter.numberStyle = .decimal
        formatter.locale = Locale(identifier: "en_US")
        let left = toGo == 0 ? nil : "  \(formatter.string(from: NSNumber(value: toGo)) ?? "") to go"
        try waitUntil("update \(updates), with \(toGo) to go", within: seconds) { _, errors in
            guard let last = errors.split(separator: "\n").last(where: { $0.contains(" updates  ") }) else {
                return false
            }
            return last.contains("  \(updates) updates  ") && (left.map(last.hasSuffix) ?? !last.hasSuffix(" to go"))
        }
    }
}
