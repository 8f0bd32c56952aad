import Fanfare
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareTestSupport

/// What worlds have in common whose engine dies again and again: the clock, the disk, the present life, and the first violation. A subclass
/// draws what happens, and judges it.
class MortalWorld {
    var random: SplitMix64
    let clock = ManualClock()
    let disk: CrashDisk
    var build = CrashBuild()
    private(set) var life: CrashLife?
    private(set) var violation: String?
    /// Counts of what the world has done, without those of its disk.
    var counts = WorldCounts<CrashOccurrence>()
    /// Is told what happens, in words.
    var onHappening: ((String) -> Void)?

    /// - Parameter seed: seed of what a crash leaves of the last write; `nil` if it leaves nothing.
    init(_ random: SplitMix64, tearing seed: UInt64?) {
        self.random = random
        disk = CrashDisk(tearing: seed)
    }

    func complain(_ text: String) {
        tell(text)
        violation = violation ?? text
    }

    func tell(_ text: @autoclosure () -> String) {
        guard let onHappening else { return }
        onHappening("\(clock.truth.milliseconds): \(text())")
    }

    // MARK: Lives

    /// Kills the engine, if one runs: the disk keeps what was synced, and maybe the beginning of the last write.
    func crash() {
        guard let life, !life.isOver else { return }
        counts[.crashes] += 1
        if life.nodes.contains(where: { !$0.network.flights.isEmpty }) { counts[.crashesInSweeps] += 1 }
        let torn = disk.crash()
        if torn > 0 { tell("the crash leaves \(torn) entries of the last write") }
    }

    /// Draws which of the former life's pushes in flight have arrived.
    func drawArrivals() -> [WorldNetwork.Flight] {
        var arrivals: [WorldNetwork.Flight] = []
        for node in life?.nodes ?? [] {
            for push in node.network.flights where random.chance(0.5) { arrivals.append(push) }
        }
        return arrivals
    }

    /// Begins the next life, with one or two shards for each app.
    func beginLife() throws -> CrashLife { try beginLife(shards: Int.random(in: 1...2, using: &random)) }

    func beginLife(shards: Int) throws -> CrashLife {
        let life = try CrashLife(
            disk, clock, build, shards: shards, streams: Int.random(in: 1...8, using: &random),
            commands: random.chance(0.5) ? 64 : 2)
        self.life = life
        return life
    }

    /// Draws the next answer to a push of a world whose network is bad.
    func drawOutcome() -> DeliveryOutcome {
        let outcomes: [DeliveryOutcome] = [.accepted, .accepted, .accepted, .notProcessed, .serviceError, .uncertain]
        return outcomes.randomElement(using: &random)!
    }

    func post(_ request: CoreRequest) -> Bool { life?.inbox.post(request).isTaken ?? false }

    /// Makes durable what waits in these parts of the store, each of which has a thread of its own.
    ///
    /// - Returns: whether anything did.
    func sync(_ parts: [CrashDisk.Part] = CrashDisk.Part.allCases) -> Bool {
        let synced = life?.sync(parts) ?? []
        if !synced.isEmpty {
            tell("a sync of \(synced): log to \(disk.log.end), \(disk.claims.claims.count) claims")
        }
        return !synced.isEmpty
    }
}

/// A world that a test or a program plays.
protocol PlayedWorld: MortalWorld {
    /// - Returns: what is wrong.
    func play(lives: Int) -> String?
}
