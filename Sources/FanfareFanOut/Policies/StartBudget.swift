import FanfareModel

/// Starts that a device may be sent. A phone takes few of them, and over its budget APNs still answers 200 and no card appears
/// (spec §4.1, observed): so whoever sends has to count.
///
/// One number per device, kept while its budget is not whole again: 16 bytes for each device that was sent a start within the
/// last two hours.
struct StartBudget {
    /// About ten in a short time (spec §4.1, Apple staff); two are left to others who send to the same app.
    static let burst = 8
    /// Nobody says how fast it refills (spec §13). A device that follows by itself more than four things in an hour is rare.
    static let refill: Int64 = 15 * 60 * 1_000_000_000

    /// By hash of the start token: when the budget is whole again, monotonic nanoseconds.
    private var wholeAt: [UInt64: Int64] = [:]
    private var purgeAbove = 1024

    /// Takes one if there is one.
    ///
    /// - Returns: `nil` when it was taken; else when there will be one, monotonic nanoseconds.
    mutating func take(_ token: [UInt8], at now: Int64) -> Int64? {
        let device = token.keyedHash
        let whole = max(now, wholeAt[device] ?? now) + StartBudget.refill
        let earliest = whole - Int64(StartBudget.burst) * StartBudget.refill
        guard earliest <= now else { return earliest }
        wholeAt[device] = whole
        if wholeAt.count > purgeAbove {
            wholeAt = wholeAt.filter { $0.value > now }
            purgeAbove = max(1024, 2 * wholeAt.count)
        }
        return nil
    }

    /// The start has certainly not reached the device.
    mutating func giveBack(_ token: [UInt8]) { wholeAt[token.keyedHash]? -= StartBudget.refill }
}
