import FanfareModel

extension Publication {
    /// Base of a shard's own serials, whose completion the core does not await. They are far above the core's.
    static let ownSerials: UInt64 = 1 << 63
}
