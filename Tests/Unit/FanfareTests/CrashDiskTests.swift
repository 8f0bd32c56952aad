import FanfareLog
import FanfareModel
import FanfareTestSupport
import Testing

@testable import CrashSimulation
@testable import Fanfare

/// What crashes leave of the writes of a `CrashDisk`.
@Suite struct CrashDiskTests {
    /// Holds five entries, and kills the engine before they are synced.
    private static func crash(_ disk: CrashDisk) throws -> Int {
        let clock = ManualClock()
        try disk.restart(at: clock, firstApp: nil)
        for _ in 0..<5 { disk.intake.hold(LogEntry(now: clock.truth, .tick), nil) }
        disk.intake.send(at: clock.now, now: clock.truth)
        return disk.crash()
    }

    @Test func aCrashLosesAWriteThatWasNotSynced() throws {
        let disk = CrashDisk()
        let kept = try Self.crash(disk)
        #expect(kept == 0 && disk.log.end == 0)
        #expect(disk.counts[.lost] == 1 && disk.counts[.torn] == 0 && disk.counts[.unheard] == 0)
    }

    @Test func aCrashMayLeaveTheBeginningOfTheLastWrite() throws {
        var counts = WorldCounts<CrashOccurrence>()
        for seed in 0..<64 {
            let disk = CrashDisk(tearing: UInt64(seed))
            let kept = try Self.crash(disk)
            #expect(disk.log.end == LogPosition(kept))
            counts += disk.counts
        }
        #expect(counts[.lost] > 0 && counts[.torn] > 0 && counts[.unheard] > 0, "\(counts)")
        #expect(counts[.lost] + counts[.torn] + counts[.unheard] == 64, "each write is lost, torn or unheard")
    }

    @Test func aWriteThatWasSyncedOutlivesACrash() throws {
        let disk = CrashDisk(tearing: 1)
        let clock = ManualClock()
        try disk.restart(at: clock, firstApp: nil)
        disk.intake.hold(LogEntry(now: clock.truth, .tick), nil)
        disk.intake.send(at: clock.now, now: clock.truth)
        let hasSynced = disk.sync(.log)
        let kept = disk.crash()
        #expect(hasSynced && kept == 0 && disk.log.end == 1)
        #expect(disk.counts == WorldCounts<CrashOccurrence>())
    }

    @Test func aCrashWithoutEntriesDrawsNothingAndCountsTheOtherWrites() {
        var (losses, untouched) = (WriteLosses(tearing: 1), WriteLosses(tearing: 1))
        let none = losses.crash(entries: 0, others: 2)
        #expect(none == 0 && losses.counts[.lost] == 2)
        let (kept, keptBefore) = (losses.crash(entries: 5, others: 0), untouched.crash(entries: 5, others: 0))
        #expect(kept == keptBefore)
    }
}
