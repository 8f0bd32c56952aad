package import FanfareTestSupport

/// Kinds of worlds whose engine dies again and again.
package enum CrashKind: String, CaseIterable, Sendable {
    /// Alerts of sweeps.
    case alerts
    /// The same, while parts of the disk stall.
    case stalls
    /// Cards that are to be started.
    case starts
    /// The same, with an operator's work between two lives.
    case keptStarts = "kept-starts"
    /// Topics that end and begin again.
    case ends
    /// Several apps, with hours and an operator's work between two lives.
    case maintenance
    /// Lineups whose topics end, and whose people change their favourites.
    case lineups

    /// Number of lives in which a world of the kind dies.
    private var lives: Int {
        switch self {
        case .alerts, .stalls: 3
        case .starts, .keptStarts, .ends, .lineups: 5
        case .maintenance: 4
        }
    }

    private func world(seed: UInt64, tears: Bool) -> any PlayedWorld {
        switch self {
        case .alerts: CrashWorld(seed: seed, tears: tears)
        case .stalls: CrashWorld(seed: seed, hasStalls: true, tears: tears)
        case .starts: StartCrashWorld(seed: seed, tears: tears)
        case .keptStarts: StartCrashWorld(seed: seed, isKeptUp: true, tears: tears)
        case .ends: EndCrashWorld(seed: seed, tears: tears)
        case .maintenance: MaintenanceCrashWorld(seed: seed, tears: tears)
        case .lineups: LineupCrashWorld(seed: seed, tears: tears)
        }
    }

    /// Plays the world of a seed.
    ///
    /// - Parameters:
    ///   - tears: `true` if crashes may leave the beginning of the last write.
    ///   - onHappening: is told what happens, in words.
    /// - Returns: what is wrong, and what has happened.
    package func play(
        seed: UInt64, tears: Bool, onHappening: ((String) -> Void)? = nil
    ) -> (violation: String?, counts: WorldCounts<CrashOccurrence>) {
        let world = world(seed: seed, tears: tears)
        world.onHappening = onHappening
        let violation = world.play(lives: lives)
        var counts = world.counts
        counts += world.disk.counts
        counts[.worlds] = 1
        return (violation, counts)
    }
}
