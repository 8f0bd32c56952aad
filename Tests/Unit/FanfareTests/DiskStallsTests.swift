import FanfareModel
import Testing

@testable import CrashSimulation

/// Stalls of a disk in the worlds of `CrashWorld`.
@Suite struct DiskStallsTests {
    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func aPartStallsUntilTheLatestOfItsStallsIsOver() {
        var stalls = DiskStalls()
        stalls.begin(of: .claims, at: Self.time(10), for: .seconds(5))
        stalls.begin(of: .claims, at: Self.time(11), for: .seconds(1))
        #expect(stalls.isStalled(.claims, at: Self.time(14)) && stalls.areGoingOn(at: Self.time(14)))
        #expect(!stalls.isStalled(.log, at: Self.time(14)), "each part stalls by itself")
        #expect(!stalls.isStalled(.claims, at: Self.time(15)) && !stalls.areGoingOn(at: Self.time(15)))
    }

    @Test func allStallsEndTogether() {
        var stalls = DiskStalls()
        for part in CrashDisk.Part.allCases { stalls.begin(of: part, at: Self.time(10), for: .seconds(5)) }
        stalls.end()
        let stalled = CrashDisk.Part.allCases.filter { stalls.isStalled($0, at: Self.time(10)) }
        #expect(stalled.isEmpty && !stalls.areGoingOn(at: Self.time(10)))
    }

    @Test func aLifeBeginsWithoutStallsAndWithoutUnclaimedAlerts() {
        var disk = SlowDisk(isPossible: true)
        disk.begin(isStalling: true)
        disk.stalls.begin(of: .log, at: Self.time(10), for: .seconds(5))
        let (first, second) = (disk.noteUnclaimed(1, of: 0), disk.noteUnclaimed(2, of: 0))
        #expect(first == 1 && second == 3 && disk.isStalling && disk.leftUnclaimed == [0: 3])
        disk.begin(isStalling: false)
        #expect(!disk.isStalling && disk.leftUnclaimed.isEmpty && !disk.stalls.areGoingOn(at: Self.time(10)))
    }
}
