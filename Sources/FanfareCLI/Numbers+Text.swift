import Foundation

extension Int {
    /// Number of things, whose name takes an s for all numbers but one.
    func counted(_ thing: String) -> String { self == 1 ? "1 \(thing)" : "\(grouped) \(thing)s" }

    /// Number with a comma between thousands.
    var grouped: String {
        var digits = String(magnitude)[...]
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.append(digits.suffix(3))
            digits = digits.dropLast(3)
        }
        return (self < 0 ? "-" : "") + ([digits] + groups.reversed()).joined(separator: ",")
    }
}

extension Double {
    func fixed(_ decimals: Int) -> String { String(format: "%.\(decimals)f", self) }
}
