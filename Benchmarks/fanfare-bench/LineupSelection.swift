/// Selections of five topics of a hundred: the first topic, in which goals happen, and four others. No two selections are alike.
enum LineupSelection {
    static let topics = 100
    static let size = 5
    /// Number of selections.
    static let count = 99 * 32 * 32 * 32

    /// Returns the selection of that number, which nobody has to remember: the digits of the number are the second topic and the distances to the
    /// others.
    static func chosen(by number: Int) -> [Int] {
        // The factor shuffles the numbers.
        var rest = number &* 1_000_003 % count
        var next = rest % 99
        rest /= 99
        var chosen = [0, next + 1]
        while chosen.count < size {
            next += 1 + rest % 32
            rest /= 32
            chosen.append(next % 99 + 1)
        }
        return chosen
    }
}
