public import FanfareModel

/// Limits on the attention that one activity may claim on a phone, whatever its topics request. All activities have the same limits; each activity
/// has its own remaining budget.
///
/// Apple publishes no numbers (spec §4.1, undocumented), and its answers do not reveal when a phone's budget is spent: the values are judgements, on
/// the safe side of observed values. A push that was certainly not processed is not counted. After a restart half of each limit counts as used by an
/// activity of the engine's store.
public struct ActivityLimits: Sendable, Hashable {
    /// Pushes at priority 10, which spend the phone's hourly budget. Further pushes leave at priority 5.
    public var immediate = TokenBucket.Size(burst: 60, refill: .seconds(60))
    /// Pushes at priority 10 if the app's frequent updates are on. A phone's own count once showed some 230 left (spec §4.1, observed).
    public var immediateFrequent = TokenBucket.Size(burst: 240, refill: .seconds(15))
    /// Essential alerts that leave at priority 10 although the budget is spent; the next refill pays for them.
    public var essentialOverdraft = 6
    /// Alerts in one activity, whose lineup may have many topics with buckets of their own (rule A2). Further alerts are silent; essential alerts
    /// count, but this limit never holds them back.
    public var alerts = TokenBucket.Size(burst: 12, refill: .seconds(300))

    /// Creates the default limits.
    public init() {}
}
