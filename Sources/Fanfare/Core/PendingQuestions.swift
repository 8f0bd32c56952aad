import FanfareModel

/// Callers' questions that the shards have not answered yet.
struct PendingQuestions {
    /// Questions to one shard each.
    var dispositions = DispositionQuestions()
    /// Questions to all shards.
    var settles: SettleQueue

    init(shards: Int) { settles = SettleQueue(shards: shards) }

    /// Answers all questions, because no shard answers any more.
    mutating func closeAll() {
        for answer in dispositions.closeAll() { answer(nil) }
        settles.withdrawAll()
    }
}
