import FanfareModel

/// Counts the starts that may still be sent to each device. A phone accepts few of them; beyond its budget APNs still answers 200, but no
/// card appears (spec §4.1, observed), so the sender has to count.
///
/// The budget is one number per device, kept until it is whole again: 16 bytes for each device that was sent a start within
/// the last two hours.
struct StartBudget {
    /// Starts in a short time: a device accepts about ten (spec §4.1, Apple staff); two are left to other senders to the same app.
    static let burst = 8
    /// Time in which one start is refilled; the phone's own rate is unknown (spec §13). Few devices follow more than four things in an hour.
    static let refill = Duration.seconds(15 * 60)
    /// The limit of each device, in nanoseconds.
    private static let limit = RateLimit(burst: Int64(burst), period: refill.nanoseconds)

    /// The time at which a device's budget is whole again, by hash of the start token.
    private var wholeAt: [UInt64: MonotonicTime] = [:]
    private var purgeAbove = 1024

    /// Takes one start from the device's budget, if it has one.
    ///
    /// - Returns: `nil` if a start was taken; otherwise the time at which the budget will have one.
    mutating func take(_ token: [UInt8], at now: MonotonicTime) -> MonotonicTime? {
        let device = token.keyedHash
        let limit = StartBudget.limit
        let debt = max(0, (wholeAt[device] ?? now).nanoseconds(since: now))
        guard limit.allowsUse(at: debt) else { return now.advanced(byNanoseconds: limit.wait(at: debt)) }
        wholeAt[device] = now.advanced(byNanoseconds: limit.charged(debt))
        if wholeAt.count > purgeAbove {
            wholeAt = wholeAt.filter { $0.value > now }
            purgeAbove = max(1024, 2 * wholeAt.count)
        }
        return nil
    }

    /// Describes more devices than are kept; `nil` if there are none.
    func violation() -> String? {
        wholeAt.count <= purgeAbove ? nil : "\(wholeAt.count) devices have budgets of starts, \(purgeAbove) may"
    }

    /// Gives back a start that was certainly not accepted.
    mutating func giveBack(_ token: [UInt8]) { wholeAt[token.keyedHash]? += .zero - StartBudget.refill }
}
