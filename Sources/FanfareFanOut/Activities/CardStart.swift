import FanfareModel

/// The time at which a card appeared, as far as is known, in seconds: a reading of the monotonic clock, or a date.
struct CardStart: Equatable {
    /// The top bit marks a date. The seconds wrap around after 68 years.
    private let bits: UInt32
    private static let dateBit: UInt32 = 1 << 31
    /// Maximum age: 34 years. A greater difference means a start in the future.
    static let longest = Int64(dateBit / 2 - 1)

    /// Creates a start of the monotonic clock's first second, for slots without a tenant.
    init() { bits = 0 }

    /// - Parameter seconds: of the monotonic clock; negative for a card that is older than the machine's start.
    init(monotonic seconds: Int64) { bits = UInt32(truncatingIfNeeded: seconds) & ~CardStart.dateBit }

    init(date: FeedTime) {
        bits = UInt32(truncatingIfNeeded: date.milliseconds / 1000) & ~CardStart.dateBit | CardStart.dateBit
    }

    var isDate: Bool { bits & CardStart.dateBit != 0 }

    /// Returns the seconds from the start to a time of the start's own clock; 0 if that time is earlier.
    func seconds(until now: Int64) -> Int64 {
        let difference = (UInt32(truncatingIfNeeded: now) &- bits) & ~CardStart.dateBit
        return difference <= CardStart.longest ? Int64(difference) : 0
    }
}
