/// Counts of what the lives of a `CrashWorld` have met: worlds that meet nothing prove nothing.
struct CrashTally {
    /// Alerts that left after a restart, and phones that lack an alert because a claim names them.
    var alerts = 0, late = 0, uncertain = 0, lives = 0
    /// Alerts that left for lineups, and those of them that left after a restart.
    var ofLineups = 0, lateOfLineups = 0
    /// Pushes that a phone had before, and phones that showed what their topics do when the engine died and got none by the restart.
    var superfluous = 0, spared = 0
    /// Phones whose lineups deaths found restorable, and rows of lineups that were compared with their topics.
    var restorable = 0, rows = 0
    /// Lineups that got no push in a life, because they had shown everything before.
    var sparedLineups = 0
    /// Pushes with stamps ahead of the clock, and phones that a death found claimed and without their alert.
    var ahead = 0, lost = 0
    /// Alerts of a life that left for cards while others were loaded, and lives that ended by then.
    var whileLoading = 0, unloaded = 0
    /// Lives that began with another decision version, and those of them that had nothing to decide again.
    var upgrades = 0, quietUpgrades = 0
    /// Alerts that left without claims, and those that a later life sent again.
    var unclaimed = 0, repeated = 0
    /// Pushes that left at priority 5 because a budget had begun half spent.
    var conserved = 0

    static func += (sum: inout CrashTally, more: CrashTally) {
        sum.alerts += more.alerts
        sum.late += more.late
        sum.uncertain += more.uncertain
        sum.lives += more.lives
        sum.ofLineups += more.ofLineups
        sum.lateOfLineups += more.lateOfLineups
        sum.superfluous += more.superfluous
        sum.spared += more.spared
        sum.restorable += more.restorable
        sum.rows += more.rows
        sum.sparedLineups += more.sparedLineups
        sum.ahead += more.ahead
        sum.lost += more.lost
        sum.whileLoading += more.whileLoading
        sum.unloaded += more.unloaded
        sum.upgrades += more.upgrades
        sum.quietUpgrades += more.quietUpgrades
        sum.unclaimed += more.unclaimed
        sum.repeated += more.repeated
        sum.conserved += more.conserved
    }
}
