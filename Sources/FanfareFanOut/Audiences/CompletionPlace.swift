/// Place of an audience's note in a `CompletionBook`, which alone changes it.
struct CompletionPlace {
    var number: UInt32 = 0
    var index: UInt32 = 0
    /// Is `true` while the audience is among the unfinished ones.
    var isUnfinished = false
    var joined = JoinedPlace()
    /// Is `true` until the next note, if joiners wait for it.
    var isForJoiners = false

    /// - Returns: whether the audience was unfinished.
    mutating func endUnfinished() -> Bool {
        defer { isUnfinished = false }
        return isUnfinished
    }
}

/// Place of an audience in `JoinedAudiences`, which alone changes it.
struct JoinedPlace {
    /// Batch of the last joiner.
    var batch: UInt32 = 0
    /// Is `true` while the audience is among those that got their newest version during loading.
    var isLoaded = false
}
