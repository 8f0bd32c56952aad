/// Judge of a number that is taken once a day, and that must not grow with the days. Teeth of a saw are no growth: a log is longer before it is
/// trimmed than after that.
struct GrowthJudge {
    /// What is counted, as the subject of a sentence in the plural.
    let name: String
    /// Growth that always counts as none: with few topics it is more than the share of `bound`.
    let slack: Int
    private(set) var days: [Int] = []

    /// Number of the days whose numbers bound those of all later days. The second day is a day of troubles.
    static let warmUpDays = 3
    /// Number of later days from which on a trend tells from the teeth of a saw.
    static let trendDaysMin = 9

    init(_ name: String, slack: Int) { (self.name, self.slack) = (name, slack) }

    mutating func note(_ number: Int) { days.append(number) }

    /// Greatest number of a later day, which no number of these days changes; `nil` until the first days are over.
    var bound: Int? {
        guard days.count >= GrowthJudge.warmUpDays, let most = days.prefix(GrowthJudge.warmUpDays).max() else {
            return nil
        }
        return most + most / 2 + slack
    }

    private var laterDays: ArraySlice<Int> { days.dropFirst(GrowthJudge.warmUpDays) }

    /// - Returns: description of the growth; `nil` if there is none.
    func growth() -> String? {
        guard let bound, let most = laterDays.max() else { return nil }
        if most > bound {
            return
                "\(name) have grown: \(most) on a day, and at most \(bound) are no growth after those of the first days"
        }
        guard laterDays.count >= GrowthJudge.trendDaysMin else { return nil }
        let third = laterDays.count / 3
        guard let early = laterDays.prefix(third).max(), let late = laterDays.suffix(third).min() else { return nil }
        // A slow leak stays below the bound for weeks, and each late day has more than each early one.
        guard late > early + early / 10 + slack else { return nil }
        return
            "\(name) grow: at most \(early) on each of \(third) days, and at least \(late) on each of the last \(third)"
    }

    /// What was measured, in one line.
    var summary: String {
        guard let bound, let least = laterDays.min(), let most = laterDays.max() else { return "\(name): too few days" }
        return "\(name): \(least) to \(most) a day after the first \(GrowthJudge.warmUpDays) days, bound \(bound)"
    }
}
