public import FanfareModel

/// Limits on the alerts of one topic, in addition to those of each occasion.
public struct AlertLimits: Sendable, Hashable {
    /// Rule for alerts that a native feed requests in its own words.
    public var requested: AlertRule
    /// Bucket of one topic for all its `ordinary` alerts together.
    public var ordinary: TokenBucket.Size
    /// Bucket of one topic for `essential` alerts whose own bucket is empty. No other alert draws on this bucket.
    public var reserved: TokenBucket.Size

    /// Creates limits. The defaults let a feed request three alerts at once, and a topic send four ordinary ones.
    public init(
        requested: AlertRule = AlertRule(.ordinary, burst: 3, refill: .seconds(300), freshFor: .seconds(300)),
        ordinary: TokenBucket.Size = .init(burst: 4, refill: .seconds(300)),
        reserved: TokenBucket.Size = .init(burst: 8, refill: .seconds(300))
    ) {
        self.requested = requested
        self.ordinary = ordinary
        self.reserved = reserved
    }
}
