import FanfareModel

/// Times at which the recall of a life is over.
struct RecallTimes {
    /// Time of the true clock.
    let truth: FeedTime
    /// Log time: that of the log's last entry. The life's log goes on from there, at most 30 seconds later.
    let log: FeedTime
}
