import FanfareModel

/// A moment of the season: true time, which no change of a machine's clock affects.
struct SeasonTime: Comparable {
    /// Milliseconds since the first day's midnight, UTC.
    var milliseconds: Int64

    static let perDay: Int64 = 86_400_000
    static let perHour: Int64 = 3_600_000
    /// 2026-10-23 in Unix milliseconds: Europe's clocks go back in the third night.
    private static let begins: Int64 = 1_792_713_600_000

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// - Parameter day: number of the day, from 0.
    init(day: Int, hour: Int64, minute: Int64 = 0) {
        milliseconds = Int64(day) * SeasonTime.perDay + hour * SeasonTime.perHour + minute * 60_000
    }

    var day: Int { Int(milliseconds / SeasonTime.perDay) }
    /// Milliseconds since the day's midnight.
    var ofDay: Int64 { milliseconds % SeasonTime.perDay }
    var unixMilliseconds: Int64 { SeasonTime.begins + milliseconds }
    var unixSeconds: Int64 { unixMilliseconds / 1000 }

    static func + (time: SeasonTime, duration: Duration) -> SeasonTime {
        SeasonTime(milliseconds: time.milliseconds + duration.milliseconds)
    }
    static func - (a: SeasonTime, b: SeasonTime) -> Duration { .milliseconds(a.milliseconds - b.milliseconds) }
    static func < (a: SeasonTime, b: SeasonTime) -> Bool { a.milliseconds < b.milliseconds }
}

extension SeasonTime: CustomStringConvertible {
    var description: String {
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (hour, minute, second) = (ofDay / SeasonTime.perHour, ofDay / 60_000 % 60, ofDay / 1000 % 60)
        return "day \(day + 1), \(two(hour)):\(two(minute)):\(two(second))"
    }
}
