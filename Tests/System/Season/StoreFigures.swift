/// What a store has had on a day.
struct StoreFigures {
    /// Greatest number of entries that the log has had after a commit.
    var entries = 0
    /// Rows of cards at the end of the day.
    var rows = 0
    /// Rows of claims, of alerts and of starts, at the end of the day.
    var claims = 0
    /// Size of LMDB's files, which have a page for each that was ever in use at the same time: LMDB takes free pages first.
    var fileBytes = 0
    /// Greatest size of the checkpoints.
    var checkpointBytes = 0
}

/// Leaks of a store, to show that a season finds them.
struct StoreLeaks {
    /// Entries of each day that are not trimmed.
    var entries = 0
    /// Cards of each day whose rows are not removed.
    var rows = 0
    /// Claims of each day that do not expire. The store removes claims in order, and none behind these.
    var claims = 0
}
