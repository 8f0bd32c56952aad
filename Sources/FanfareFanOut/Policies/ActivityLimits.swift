public import FanfareModel

/// How much of a phone's attention one activity may claim, whatever its topics ask for. Everybody's are the same; what an activity
/// has left is its own.
///
/// Apple publishes no numbers (spec §4.1, undocumented), and its answers do not tell when a phone's budget is spent: so these are
/// judgement, on the safe side of what has been seen. A push that was certainly not processed counts for nothing.
public struct ActivityLimits: Sendable, Hashable {
    /// Pushes at priority 10, which spend the phone's hourly budget. Over it they go at 5.
    public var immediate = TokenBucket.Size(burst: 60, refill: .seconds(60))
    /// The same where the app's frequent updates are on. A phone's own count once showed some 230 left (spec §4.1, observed).
    public var immediateFrequent = TokenBucket.Size(burst: 240, refill: .seconds(15))
    /// Essential alerts that go at 10 although the budget is spent; they come out of what is refilled next.
    public var essentialLoan = 6
    /// Alerts in one activity, whose lineup may have many topics with buckets of their own (rule A2). Over it they are silent;
    /// essential ones count, and are never held back by it.
    public var alerts = TokenBucket.Size(burst: 12, refill: .seconds(300))

    /// The limits that the properties' defaults name.
    public init() {}
}
