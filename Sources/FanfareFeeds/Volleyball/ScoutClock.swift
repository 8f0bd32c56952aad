import FanfareModel

/// Times at which the rows of a scouting file were typed; some rows have a time of day.
///
/// The time never goes back: bursts are typed after the rally, and a few rows step back by seconds. A time far from the row before
/// is believed if the next one is near it, as after a long break or midnight. Otherwise it is an error, often 00.00.00, and the row
/// gets the time of the row before.
struct ScoutClock {
    private(set) var now: FeedTime
    /// Seconds of the day, by row.
    private let times: [Int64?]
    private var position = 0
    /// Seconds of the day at `now`.
    private var seconds: Int64

    private static let day: Int64 = 86_400
    /// Maximum seconds between two consecutive rows, breaks between sets included.
    private static let near: Int64 = 3600

    /// - Parameters:
    ///   - day: midnight before the first row.
    ///   - kickoff: time of the first row, whatever its time of day; `nil` takes it from `day` and the row.
    init(_ times: [Int64?], day: FeedTime, kickoff: FeedTime?) {
        self.times = times
        // The first rows may lack a time, so the start is the time of the first row that has one.
        let first = times.compactMap(\.self).prefix(2)
        let isSlip = first.count == 2 && !ScoutClock.areNear(first[0], first[1])
        let followed =
            isSlip ? times.compactMap(\.self).dropFirst(2).first.map { ScoutClock.areNear(first[1], $0) } : nil
        seconds = (followed == true ? first[1] : first.first) ?? 0
        now = kickoff ?? day + .seconds(seconds)
    }

    /// Advances to the next row.
    mutating func pass() {
        defer { position += 1 }
        guard let time = times[position] else { return }
        let step = ScoutClock.step(from: seconds, to: time)
        if !ScoutClock.areNear(seconds, time) {
            let next = times[(position + 1)...].lazy.compactMap(\.self).first { _ in true }
            guard let next, ScoutClock.areNear(time, next) else { return }
        }
        guard step > 0 else { return }
        now = now + .seconds(step)
        seconds = time
    }

    private static func areNear(_ one: Int64, _ other: Int64) -> Bool { abs(step(from: one, to: other)) <= near }

    /// Returns the shorter way round the clock.
    private static func step(from one: Int64, to other: Int64) -> Int64 {
        let ahead = (other - one + day) % day
        return ahead > day / 2 ? ahead - day : ahead
    }
}
