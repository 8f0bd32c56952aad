import FanfareModel

/// Day of a match as a scout's machine wrote it: month first, day first or year first, with slashes, dots or dashes, depending on
/// the machine's country. The rest of the file resolves an ambiguous date.
struct ScoutedDay: Equatable {
    /// Midnight, UTC.
    var start: FeedTime
    /// Message for people if the day is a guess.
    var doubt: String?

    /// - Parameters:
    ///   - written: the header's date.
    ///   - serial: the days since 1899 in the header's second line, as in spreadsheets.
    ///   - others: other dates of the file, such as those of its creation and last change.
    init(written: Substring, serial: Int?, others: [Substring]) {
        let readings = Reading.all(of: written)
        let counted = serial.flatMap(ScoutedDay.day(serial:))
        if let counted, readings.isEmpty || readings.contains(where: { $0.day == counted }) {
            start = counted
        } else if readings.count == 1 {
            start = readings[0].day
        } else if readings.isEmpty {
            let nearby = others.lazy.compactMap { Reading.all(of: $0).first?.day }.first { _ in true }
            start = nearby ?? FeedTime(milliseconds: 0)
            doubt = "the match has no date that can be read (\(written)); the option `kickoff` gives one"
        } else {
            // One machine writes all its dates in one order.
            let order = others.lazy.compactMap(Reading.onlyOrder).first { _ in true }
            let isDayFirst = order.map { $0 == .dayFirst } ?? !written.contains("/")
            let chosen = readings.first { $0.order == (isDayFirst ? .dayFirst : .monthFirst) } ?? readings[0]
            start = chosen.day
            if order == nil {
                let other = readings.first { $0.day != chosen.day } ?? chosen
                doubt =
                    "the date \(written) may be \(chosen.name) or \(other.name), and is taken for the first; the option `kickoff` "
                    + "says otherwise"
            }
        }
    }

    /// Returns the day for a number of days since 30 December 1899.
    private static func day(serial: Int) -> FeedTime? {
        // Days from 1970 to 2100, the range of plausible times.
        guard (25_570...73_050).contains(serial) else { return nil }
        return FeedTime(seconds: Int64(serial - 25_569) * 86_400)
    }

    private struct Reading {
        enum Order { case monthFirst, dayFirst, yearFirst }

        let order: Order
        let day: FeedTime

        var name: String { String("\(day)".prefix(10)) }

        /// Returns all readings of a date, ignoring a time of day behind it.
        static func all(of text: Substring) -> [Reading] {
            let date = text.drop { $0 == " " }.prefix { $0 != " " && $0 != "T" }
            let parts = date.split(whereSeparator: { "/.-".contains($0) }).map { Int($0) }
            guard parts.count == 3, let first = parts[0], let second = parts[1], let third = parts[2] else { return [] }
            if first > 31 { return [reading(.yearFirst, year: first, second, third)].compactMap(\.self) }
            let both = [
                reading(.monthFirst, year: third, first, second), reading(.dayFirst, year: third, second, first),
            ]
            .compactMap(\.self)
            return both.count == 2 && both[0].day == both[1].day ? [both[0]] : both
        }

        /// Returns the order of an unambiguous date.
        static func onlyOrder(of text: Substring) -> Order? {
            let readings = all(of: text).filter { $0.order != .yearFirst }
            // Both orders of the fourth of April are written alike.
            guard readings.count == 1, Set(text.prefix(5).split { !$0.isNumber }).count == 2 else { return nil }
            return readings[0].order
        }

        private static func reading(_ order: Order, year: Int, _ month: Int, _ day: Int) -> Reading? {
            guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
            let year = year >= 100 ? year : year < 70 ? 2000 + year : 1900 + year
            func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
            let padded = String(repeating: "0", count: max(0, 4 - String(year).count)) + String(year)
            guard let start = FeedTime(rfc3339: "\(padded)-\(two(month))-\(two(day))T00:00:00Z"), start.isPlausible
            else {
                return nil
            }
            return Reading(order: order, day: start)
        }
    }
}
