import FanfareModel

/// Callers' questions that the shards have not answered yet.
struct PendingQuestions {
    /// Questions to one shard each.
    var dispositions = DispositionQuestions()
    /// Questions to all shards.
    var settles: SettleQueue

    init(shards: Int) { settles = SettleQueue(shards: shards) }

    /// Removes all questions, because no shard answers any more.
    ///
    /// - Returns: a closure that answers them. Questions that these answers ask are kept, and nobody answers them.
    mutating func closeAll() -> () -> Void {
        let answers = dispositions.closeAll()
        let settled = settles.closeAll()
        return {
            for answer in answers { answer(nil) }
            for settle in settled { settle() }
        }
    }

    /// Describes a violated invariant of the questions of either kind; `nil` if there is none.
    func violation() -> String? { dispositions.violation() ?? settles.violation() }
}
