import FanfareModel

/// The shard's record of one activity: 48 bytes, and its token.
struct Activity: BitwiseCopyable {
    /// Bits of the id. Its text is beside the token (`ActivityStore.name(of:)`).
    private var idBits: UInt64
    var id: ActivityID {
        get { ActivityID(idBits) }
        set { idBits = newValue.rawValue }
    }
    var token = TokenReference()
    // `flags` and `failures` fill up the eight bytes that the token's reference begins.
    var flags: Flags = []
    var failures = FailureStreak()
    /// Index of the audience, or `none` when the activity is leaving or the slot is free.
    var audience = AudienceIndex.none
    /// Counter of the slot's tenants, in steps of 256; between two of them it counts the waits from which a tenant was released. Events
    /// of an earlier tenant or wait are recognised by it and ignored.
    var generation: UInt32 = 0
    var tenant: UInt32 { generation >> 8 }
    /// The newest version that was accepted, or that shows the same as the accepted one. A joiner has its audience's newest version from the
    /// beginning, with `needsPush` until its first push is accepted.
    var delivered: UInt32 = 0
    /// The version up to which this activity's alerts are settled: sent, superseded, revoked or stale. A push in flight counts when its
    /// completion arrives; a push that was certainly not processed is no attempt.
    var alerted: UInt32 = 0
    /// Version of the last push or of the one in flight, of the activity's present audience; 0 before the first.
    var sending: UInt32 = 0
    /// The alert that the push in flight carries, or would have carried; `refused` after the last push has been refused.
    var sendingAlert = AlertAttempt.none
    /// Greatest `aps.timestamp` ever sent, Unix seconds. It stays with the activity when the audience changes. Before the first push it is zero, or the
    /// second from which `budgetUse` counts.
    var stamp: UInt32 = 0
    /// The time at which the card appeared or its start left, as far as known; before that, the time of the request.
    var startedAt = CardStart()
    /// Use of the activity's limits, as of `stamp`.
    var budgetUse = BudgetUse()

    init(id: ActivityID) { idBits = id.rawValue }

    /// Gives the activity a use of its limits before its first push.
    ///
    /// - Parameter stamp: second from which the use counts; every later push has a greater stamp.
    mutating func begin(with use: BudgetUse, from stamp: UInt32) { (budgetUse, self.stamp) = (use, stamp) }

    /// Forgets a last stamp that no device can have accepted. The activity's use of its limits counts from now on.
    mutating func forgetUnusedStamp(at moment: Moment) {
        if !Stamp.mayBeTaken(Int64(stamp), at: moment) { stamp = UInt32(moment.stampSecond - 1) }
    }

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// A push is in flight. There is one at a time; its completion clears the flag.
        static let inFlight = Flags(rawValue: 1)
        /// A push is pending although `delivered` is the newest version: a joiner's first one, or a repeat after an uncertain outcome.
        static let needsPush = Flags(rawValue: 2)
        /// The activity backs off, or is held by the dead-token guard; nothing is sent before it is released.
        static let suspended = Flags(rawValue: 4)
        /// The activity has an entry in its audience's `revisits`.
        static let queued = Flags(rawValue: 8)
        /// The activity was unfollowed: one private end is pending, then the activity is removed.
        static let leaving = Flags(rawValue: 16)
        /// The token was replaced while a push to the old one was in flight: a dead-token answer is about the old token.
        static let rotated = Flags(rawValue: 32)
        /// The push in flight is an `end`; nothing follows after it is settled.
        static let ending = Flags(rawValue: 64)
        /// The update token is not known: the token is a start token, and the shard's `starts` have the rest.
        static let tokenless = Flags(rawValue: 128)
    }
}
