import FanfareModel

/// What a world knows of the engine's last death.
struct CrashDeath {
    /// Log time at which the engine died after a calm; `nil` if it died at work.
    var at: FeedTime?
    /// Phones whose lineups were restorable by then.
    var restorable: Set<Int> = []
    /// Phones whose lineups were calm by then, and that are not yet counted as spared.
    var calm: Set<Int> = []
}
