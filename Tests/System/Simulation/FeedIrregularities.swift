import FanfareModel

/// Silences of a feed, and what is said of them.
struct FeedSilences {
    let isOn: Bool
    var random: SplitMix64
    /// Time before which no event of a topic comes; a topic that ended by its silence stays silent.
    var until: [TopicID: FeedTime] = [:]
    var judge: SilenceJudge
}

/// Kick-offs in the content states.
struct FeedKickOffs {
    let isOn: Bool
    var random: SplitMix64
}

/// Events out of order.
struct FeedDisorder {
    let isOn: Bool
    /// Publications caused by an event out of order.
    var serials: Set<UInt64> = []
    /// Is `true` while such an event has caused what is not published yet.
    var isPending = false
}
