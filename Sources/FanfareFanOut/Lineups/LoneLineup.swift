import FanfareModel
import FanfareQueues

/// Properties of a lineup of one member: the state that an audience has otherwise.
struct LoneLineup: BitwiseCopyable {
    var member = ActivitySlot(.max)
    /// Number of the newest version, and the hash of its content. The member has it, or it is in flight.
    var number: UInt32 = 0
    var displayHash: UInt64 = 0
    /// Hash of the content of the member's version, which is not the newest while that is in flight.
    var displayHashBefore: UInt64 = 0
    /// `Lineup.publishedAt`.
    var publishedAt = MonotonicTime.always
    var rotation: RestingRotation?
    var wakeUp: ShardTimers.Entry?
    /// Number of the last news in the push in flight.
    var sent = NewsNumber()
    /// Index of the spotlight among the lineup's topics; 255 means none.
    var spotlight = UInt8.max
    /// Lane in which the lineup is visited when its wake-up is due: that of rotations, unless news wait.
    var lane: UInt8 = 2
    var flags: Flags = []
    var priority = Priority.conserving
    /// Low bits of the number of alerts, by class (`AlertHistory.resting`).
    var alertCounts = SIMD2<UInt8>()

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// The newest version is in flight.
        static let inFlight = Flags(rawValue: 1)
        /// A visit found a push in flight: the next visit is due when that push is answered.
        static let wasPassed = Flags(rawValue: 2)
        /// The lineup has an entry in `DueLineups`.
        static let isDue = Flags(rawValue: 4)
        /// The wake-up ends the wait of news for the minimum interval.
        static let isDeferred = Flags(rawValue: 8)
        /// The wake-up ends the wait of news for others.
        static let isGathering = Flags(rawValue: 16)
        /// The alerts of its next push wait for a claim, or for room to be named in one.
        static let awaitsClaim = Flags(rawValue: 32)
        /// Flags after which the lineup looks at its news without a cursor.
        static let awaitingVisit: Flags = [.isDue, .wasPassed, .isDeferred, .isGathering, .awaitsClaim]
    }
}
