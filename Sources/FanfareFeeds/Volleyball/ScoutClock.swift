import FanfareModel

/// When the rows of a scouting file were typed, row by row, of which some tell the time of day.
///
/// None goes back: bursts are typed after the rally, and a few rows step back by seconds. A time that is far from the row before is
/// believed when the next one is near it: after a long break, or midnight. Else it is a slip, often 00.00.00, and the row is of the time of
/// the one before.
struct ScoutClock {
    private(set) var now: FeedTime
    /// Of the day, by row.
    private let times: [Int64?]
    private var position = 0
    /// Of the day, at `now`.
    private var seconds: Int64

    private static let day: Int64 = 86_400
    /// Between two rows that follow each other, the break between two sets among them.
    private static let near: Int64 = 3600

    /// - Parameters:
    ///   - day: midnight before the first row.
    ///   - kickoff: when the first row was, whatever its time of day; `nil`: it is of the day.
    init(_ times: [Int64?], day: FeedTime, kickoff: FeedTime?) {
        self.times = times
        // The first rows may lack a time: the start is that of the first that has one.
        let first = times.compactMap(\.self).prefix(2)
        let isSlip = first.count == 2 && !ScoutClock.areNear(first[0], first[1])
        let followed =
            isSlip ? times.compactMap(\.self).dropFirst(2).first.map { ScoutClock.areNear(first[1], $0) } : nil
        seconds = (followed == true ? first[1] : first.first) ?? 0
        now = kickoff ?? day + .seconds(seconds)
    }

    /// The next row.
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

    /// The shorter way round the clock.
    private static func step(from one: Int64, to other: Int64) -> Int64 {
        let ahead = (other - one + day) % day
        return ahead > day / 2 ? ahead - day : ahead
    }
}
