import FanfareLoop
import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

@testable import FanfareLog

@Suite struct ClaimStoreTests {
    private static func time(_ second: Int64) -> FeedTime { FeedTime(milliseconds: second * 1000) }

    private static func claims(
        _ topic: String, through second: Int64, _ marks: [UInt32], now: Int64? = nil, app: AppID? = nil
    ) -> StoredClaims {
        StoredClaims(
            [
                AlertClaim(
                    topic: TopicID(topic), through: time(second), expires: time(second + 60),
                    activities: marks.map { ActivityMark(rawValue: $0) })
            ], app: app, now: time(now ?? second))
    }

    /// The tables of a store that has been made and closed.
    private static func environment(of folder: TemporaryFolder) throws -> LMDBEnvironment {
        try ClaimFolder(store: folder.path).close()
        return try LMDBEnvironment(
            folder: folder.path + "/claims", tables: ["head", "claims", "completions", "starts"],
            mapSize: LMDBLog.mapSizeFirst, isReadOnly: false)
    }

    /// A check reads every row, beside the process that writes, and names the one that is damaged.
    @Test func aCheckReadsClaimsAndCompletions() throws {
        let folder = try TemporaryFolder.made()
        #expect(try ClaimFolder.check(store: folder.path) == nil, "a store without claims")
        let store = try ClaimFolder(store: folder.path)
        var changes = CompletionChanges()
        let key = CompletionKey(birth: 3, app: 0)
        changes.note(
            StoredCompletion(
                topic: TopicID("a"), app: nil, birth: 3, version: 1, displayHash: 7, before: Self.time(9), serials: 0),
            at: key, CompletionHead(position: 9, now: Self.time(9)))
        try store.append([Self.claims("a", through: 10, [1]), Self.claims("b", through: 11, [2])], changes)
        let found = try ClaimFolder.check(store: folder.path)
        #expect(found?.claims == 2 && found?.completions == 1)
        store.close()
        try Self.environment(of: folder).write([.init(table: 2, key: key.packed, row: [1, 2, 3, 4, 5])])
        let error = #expect(throws: LogError.self) { try ClaimFolder.check(store: folder.path) }
        #expect(error?.cause == .damaged && error?.description.contains("completion") == true)
    }

    private static func read(_ store: any ClaimStore) throws -> [StoredClaims] {
        var all: [StoredClaims] = []
        try store.read { all.append($0) }
        return all
    }

    @Test func claimsOutliveTheProcess() throws {
        let folder = try TemporaryFolder.made()
        let app = AppID(bundleID: "com.example", environment: .development)
        let first = [Self.claims("a", through: 10, [1, .max, 0]), Self.claims("b", through: 11, [], app: app)]
        do {
            let store = try ClaimFolder(store: folder.path)
            #expect(store.start == nil)
            try store.begin(at: Self.time(5))
            try store.append(first)
            store.close()
        }
        let store = try ClaimFolder(store: folder.path)
        #expect(store.start == Self.time(5))
        #expect(try Self.read(store) == first)
        // Appending without having read overwrites nothing.
        store.close()
        let third = try ClaimFolder(store: folder.path)
        try third.append([Self.claims("c", through: 12, [7])])
        #expect(try Self.read(third) == first + [Self.claims("c", through: 12, [7])])
    }

    @Test(arguments: [false, true]) func expiredClaimsGo(inMemory: Bool) throws {
        let folder = try TemporaryFolder.made()
        let store: any ClaimStore = inMemory ? MemoryClaims() : try ClaimFolder(store: folder.path)
        for second in 0..<1000 { try store.append([Self.claims("a", through: Int64(second), [UInt32(second)])]) }
        #expect(try Self.read(store).count <= 62)
        #expect(try Self.read(store).last == Self.claims("a", through: 999, [999]))
        // Fresh claims stay, however much else goes.
        try store.append([Self.claims("b", through: 1000, [1]), Self.claims("c", through: 5000, [2])])
        #expect(try Self.read(store).last?.claims.first?.topic == TopicID("c"))
    }

    private static func starts(_ marks: [UInt32], now second: Int64, app: AppID? = nil) -> StoredClaims {
        StoredClaims([], starts: marks.map { StartMark(rawValue: $0) }, app: app, now: time(second))
    }

    /// Claims of starts say something for a day, and keep no claim of an alert as long.
    @Test(arguments: [false, true]) func claimsOfStartsStayForADay(inMemory: Bool) throws {
        let folder = try TemporaryFolder.made()
        let memory = MemoryClaims()
        func opened() throws -> any ClaimStore { inMemory ? memory : try ClaimFolder(store: folder.path) }
        var store = try opened()
        let alert = Self.claims("a", through: 10, [1])
        let both = StoredClaims(alert.claims, starts: [StartMark(rawValue: 2)], app: nil, now: Self.time(10))
        try store.append([both, Self.starts([3, .max], now: 11, app: AppID(bundleID: "one"))])
        store.close()
        store = try opened()
        var found = ClaimedActivities(now: Self.time(11))
        try store.read { found.insert($0) }
        #expect(found.claimed(ActivityMark(rawValue: 1), of: TopicID("a"), app: nil) == Self.time(10))
        #expect(found.mayHaveLeft(StartMark(rawValue: 2), app: nil))
        #expect(found.mayHaveLeft(StartMark(rawValue: .max), app: AppID(bundleID: "one")))
        for (mark, app) in [(1, nil), (3, nil), (2, AppID(bundleID: "one"))] as [(UInt32, AppID?)] {
            #expect(!found.mayHaveLeft(StartMark(rawValue: mark), app: app))
        }
        for second in 1..<200 as Range<Int64> {
            try store.append([Self.starts([UInt32(second)], now: 100 * second)])
            try store.append([Self.claims("a", through: 100 * second, [1])])
        }
        let kept = try Self.read(store)
        #expect(kept.count { !$0.claims.isEmpty } == 1 && kept.count { !$0.starts.isEmpty } == 201)
        // Time that has passed in one step counts for ten minutes: the machine may have stood still.
        let day = StoredClaims.startAgeMax.milliseconds / 1000
        for second in 200..<210 as Range<Int64> { try store.append([Self.starts([7], now: day + 100 * second)]) }
        #expect(try Self.read(store).count { !$0.starts.isEmpty } == 211)
        for minute in 1..<200 as Range<Int64> { try store.append([Self.starts([8], now: 2 * day + 600 * minute)]) }
        let starts = try Self.read(store).filter { !$0.starts.isEmpty }
        #expect((140...150).contains(starts.count) && starts.allSatisfy { $0.starts == [StartMark(rawValue: 8)] })
        store.close()
        store = try opened()
        #expect(try Self.read(store).count { !$0.starts.isEmpty } == starts.count)
        try store.append([Self.starts([9], now: 9 * day)])
        #expect((0...2).contains(starts.count + 1 - (try Self.read(store).count { !$0.starts.isEmpty })))
    }

    /// A process that begins with a log time behind that of the claims, as after a night without entries, keeps them as long as the others.
    @Test func timeOfStartsGoesOnWhereItWas() {
        var time = StartClaimTime()
        time.note(Self.time(5000))
        #expect(time.advance(to: Self.time(1000)) == Self.time(5000))
        #expect(time.advance(to: Self.time(1060)) == Self.time(5060))
        #expect(time.advance(to: Self.time(100_000)) == Self.time(5660))
        #expect(time.advance(to: Self.time(100_010)) == Self.time(5670))
        var new = StartClaimTime()
        #expect(new.advance(to: Self.time(1000)) == Self.time(1000))
        #expect(new.advance(to: Self.time(1060)) == Self.time(1060))
        #expect(new.advance(to: Self.time(900)) == Self.time(1060))
    }

    /// A folder of an earlier release has no table of starts.
    @Test func aFolderWithoutStartsIsRead() throws {
        let folder = try TemporaryFolder.made()
        try FileManager.default.createDirectory(atPath: folder.path + "/claims", withIntermediateDirectories: true)
        do {
            let environment = try LMDBEnvironment(
                folder: folder.path + "/claims", tables: ["head", "claims", "completions"],
                mapSize: LMDBLog.mapSizeFirst, isReadOnly: false)
            let row = Self.claims("a", through: 10, [1]).bytes(key: 1)
            try environment.write([.init(table: 1, key: 1, row: row)])
        }
        #expect(try ClaimFolder.check(store: folder.path)?.claims == 1)
        let store = try ClaimFolder(store: folder.path)
        try store.append([Self.starts([3], now: 11)])
        #expect(try Self.read(store) == [Self.claims("a", through: 10, [1]), Self.starts([3], now: 11)])
    }

    @Test(arguments: [false, true]) func theStampsOfAProcessBeginBehindThoseOfTheOneBefore(inMemory: Bool) throws {
        let folder = try TemporaryFolder.made()
        let memory = MemoryClaims()
        func opened() throws -> any ClaimStore { inMemory ? memory : try ClaimFolder(store: folder.path) }
        var store = try opened()
        #expect(store.stampCeiling == nil)
        #expect(try store.reserveStamps(at: Self.time(1000)) == StampBounds(floor: 0, ceiling: 1030))
        try store.append([], CompletionChanges(), stampCeiling: 1500)
        try store.append([Self.claims("a", through: 1, [1])])
        #expect(store.stampCeiling == 1500)
        store.close()
        store = try opened()
        #expect(store.stampCeiling == 1500)
        #expect(try store.readCompletions { _, _ in } == nil, "the ceiling is no head of completions")
        // A process that ends before it has sent anything has used stamps up to its floor at most.
        #expect(try store.reserveStamps(at: Self.time(900)) == StampBounds(floor: 1501, ceiling: 1501))
        store.close()
        store = try opened()
        #expect(try store.reserveStamps(at: Self.time(2000)) == StampBounds(floor: 1502, ceiling: 2030))
        #expect(try Self.read(store).count == 1)
        // A clock that was years ahead leaves no ceiling for ever.
        try store.append([], CompletionChanges(), stampCeiling: 1_000_000)
        #expect(try store.reserveStamps(at: Self.time(3000)) == StampBounds(floor: 0, ceiling: 3030))
        store.close()
    }

    /// A program that is started again each second, and dies before or after its first pushes, may do so for a day.
    @Test(arguments: [0, 1]) func aCrashLoopPutsStampsNoFurtherAhead(pushes: Int64) throws {
        let store = MemoryClaims()
        var used: Int64 = 0
        for life in 0..<30_000 as Range<Int64> {
            let now = Self.time(1_790_000_000 + life * (1 + 4 * pushes))
            let bounds = try store.reserveStamps(at: now)
            let stamp = max(now.milliseconds / 1000, bounds.floor)
            #expect(stamp > used || pushes == 0, "life \(life)")
            try #require(bounds.lead(at: now) <= 3600, "life \(life)")
            guard pushes > 0 else { continue }
            used = stamp
            let ceiling = max(stamp + StampCeiling.reserve, now.milliseconds / 1000 + StampCeiling.timeReserve)
            store.append([], CompletionChanges(), stampCeiling: ceiling)
        }
    }

    /// No clock makes a ceiling that is not one.
    @Test(arguments: [Int64.min, -1, 0, 7_258_118_400_000, .max])
    func aWrongClockLeavesCeilingsThatCanBeRead(wall: Int64) throws {
        let folder = try TemporaryFolder.made()
        for _ in 0..<3 {
            let store = try ClaimFolder(store: folder.path)
            let bounds = try store.reserveStamps(at: FeedTime(milliseconds: wall))
            #expect(bounds.ceiling >= bounds.floor && bounds.ceiling < UInt32.max)
            store.close()
        }
    }

    /// Ceilings as this release writes them. They never change.
    @Test func theFormOfACeilingStaysReadable() throws {
        let folder = try TemporaryFolder.made()
        do {
            let environment = try Self.environment(of: folder)
            // The form, and 1,790,000,000.
            let row: [UInt8] = [1, 0x80, 0xf7, 0xc4, 0xd5, 0x06]
            try environment.write([.init(table: 0, key: 2, row: LogEntry.sealed(row[...], at: 2))])
        }
        #expect(try ClaimFolder(store: folder.path).stampCeiling == 1_790_000_000)
    }

    /// The rows of the head as this release writes them: the beginning of the claims, and the ceiling of stamps. The bytes never change.
    @Test func theHeadOfClaimsIsWrittenAsItWas() throws {
        let folder = try TemporaryFolder.made()
        let store = try ClaimFolder(store: folder.path)
        try store.begin(at: Self.time(5))
        try store.append([], CompletionChanges(), stampCeiling: 1_790_000_000)
        store.close()
        var rows: [String?] = []
        do {
            let environment = try Self.environment(of: folder)
            for key in [UInt64(0), 2] {
                let row = try environment.row(0, key)
                rows.append(row.map { $0.map { String(format: "%02x", $0) }.joined() })
            }
        }
        let golden: [String?] = ["01904e563d608a", "0180f7c4d506b05a54d2"]
        #expect(rows == golden)
        #expect(try ClaimFolder(store: folder.path).start == Self.time(5))
    }

    @Test func aClaimFolderServesOneProcessAtATime() throws {
        let folder = try TemporaryFolder.made()
        let store = try ClaimFolder(store: folder.path)
        let error = #expect(throws: LogError.self) { try ClaimFolder(store: folder.path) }
        #expect(error?.cause == .inUse)
        store.close()
        _ = try ClaimFolder(store: folder.path)
    }

    /// A replay's alerts leave without claims, so those of the engine before it do not go on.
    @Test func aReplayEndsTheClaims() throws {
        let folder = try TemporaryFolder.made()
        try ClaimFolder.suspend(store: folder.path)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/claims"), "a store without claims gets none")
        let store = try ClaimFolder(store: folder.path)
        try store.begin(at: Self.time(5))
        store.close()
        try ClaimFolder.suspend(store: folder.path)
        #expect(try ClaimFolder(store: folder.path).start == nil)
    }

    /// A replay learns before its recall whether it can end the claims after it. Damaged ones can be put aside.
    @Test(arguments: [false, true]) func onlyClaimsOfANewerReleaseKeepAReplayFromEndingThem(isDamaged: Bool) throws {
        let folder = try TemporaryFolder.made()
        try ClaimFolder.checkForm(store: folder.path)
        #expect(folder.names.isEmpty, "a store without claims gets none")
        do {
            let environment = try Self.environment(of: folder)
            let row: [UInt8] = isDamaged ? [1, 2, 3, 4, 5, 6] : LogEntry.sealed([2, 0], at: 0)
            try environment.write([.init(table: 0, key: 0, row: row)])
        }
        guard !isDamaged else { return try ClaimFolder.checkForm(store: folder.path) }
        let error = #expect(throws: LogError.self) { try ClaimFolder.checkForm(store: folder.path) }
        #expect(error?.cause == .newerRelease)
    }

    /// Damaged claims keep no engine from starting: alerts that had not reached everybody reach nobody else.
    @Test(arguments: ["claim", "completion", "head", "mark", "file", "key", "start"])
    func damagedClaimsArePutAside(damage: String) throws {
        let folder = try TemporaryFolder.made()
        do {
            let environment = try Self.environment(of: folder)
            switch damage {
            case "claim": try environment.write([.init(table: 1, key: 7, row: [1, 2, 3, 4, 5, 6])])
            case "key": try environment.write([.init(table: 1, key: .max, row: [1, 2, 3, 4, 5, 6])])
            case "completion": try environment.write([.init(table: 2, key: 7, row: [1, 2, 3, 4, 5, 6])])
            case "start": try environment.write([.init(table: 3, key: 7, row: [1, 2, 3, 4, 5, 6])])
            case "mark": try environment.write([.init(table: 0, key: 2, row: [1, 2, 3, 4, 5, 6])])
            case "head": try environment.write([.init(table: 0, key: 0, row: [1, 2, 3, 4, 5, 6])])
            default: try environment.write([.init(table: 1, key: 1, row: [UInt8](repeating: 1, count: 50_000))])
            }
        }
        if damage == "file" { #expect(truncate(folder.path + "/claims/data.mdb", 4096) == 0) }
        for _ in 0..<2 {
            var lines: [String] = []
            let store = try ClaimFolder.opened(store: folder.path, report: { lines.append($0) }, read: Self.readAll)
            #expect(store.start == nil)
            try store.begin(at: Self.time(1))
            store.close()
            // The next one is damaged as well, and takes the place of the first; so it does for a replay.
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path + "/claims/data.mdb"))
            try file.truncate(atOffset: 4096)
            #expect(lines.count == 1 && lines[0].contains("claims.damaged"), "\(lines)")
        }
        try ClaimFolder.suspend(store: folder.path)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/claims"))
    }

    private static func readAll(_ folder: ClaimFolder) throws(LogError) {
        try folder.read { _ in }
        _ = try folder.readCompletions { _, _ in }
    }

    @Test func claimsOfANewerReleaseAreRefused() throws {
        let folder = try TemporaryFolder.made()
        do {
            let environment = try Self.environment(of: folder)
            try environment.write([.init(table: 1, key: 3, row: LogEntry.sealed([2, 0, 0], at: 3))])
        }
        let error = #expect(throws: LogError.self) {
            try ClaimFolder.opened(store: folder.path, report: { _ in }, read: Self.readAll)
        }
        #expect(error?.cause == .newerRelease)
    }

    /// Claims as this release writes them. They never change.
    @Test func theFormOfClaimsStaysReadable() throws {
        let stored = Self.claims("m/1", through: 1, [1, 0x0102_0304], now: 2, app: AppID(bundleID: "one"))
        let hex = stored.bytes(key: 7).map { String(format: "%02x", $0) }.joined()
        #expect(hex == "0101036f6e6500a01f01036d2f31d00f90b907020100000004030201" + "e0c31aee")
        #expect(try StoredClaims(stored.bytes(key: 7), key: 7) == stored)
        #expect(throws: SerialError.self) { try StoredClaims(stored.bytes(key: 7), key: 8) }
    }

    /// Claims of starts as this release writes them. They never change.
    @Test func theFormOfStartsStaysReadable() throws {
        let stored = Self.starts([1, 0x0102_0304], now: 2, app: AppID(bundleID: "one"))
        let hex = stored.bytes(ofStartsAt: 7).map { String(format: "%02x", $0) }.joined()
        #expect(hex == "0101036f6e6500a01f020100000004030201" + "f10aae79")
        #expect(try StoredClaims(stored.bytes(ofStartsAt: 7), ofStartsAt: 7) == stored)
        #expect(throws: SerialError.self) { try StoredClaims(stored.bytes(ofStartsAt: 7), ofStartsAt: 8) }
    }

    @Test(arguments: 1...3) func strangeBytesAreRefused(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let good = Self.claims("m/1", through: 1, [1, 2, 3]).bytes(key: 7)
        for _ in 0..<2000 {
            var bytes = good.dropLast(4).map { random.chance(0.1) ? UInt8(truncatingIfNeeded: random.next()) : $0 }
            if random.chance(0.5) { bytes.removeLast(Int(random.next() % UInt64(bytes.count))) }
            // A right checksum lets the reader see all of it.
            _ = try? StoredClaims(LogEntry.sealed(bytes[...], at: 7), key: 7)
        }
    }

    // MARK: The thread

    /// Fails a few times, as a full disk does.
    private final class FullDisk: ClaimStore {
        let failures: Locked<Int>
        let claims = Locked<[StoredClaims]>([])
        let ceiling = Locked<Int64?>(nil)
        let stamps: StampCeiling
        /// Ceilings that stamps were bound by when each commit began.
        let bounds = Locked<[Int64]>([])
        var start: FeedTime? { nil }
        var stampCeiling: Int64? { ceiling.withLock(\.self) }

        init(failures: Int, stamps: StampCeiling = StampCeiling()) {
            self.failures = Locked(failures)
            self.stamps = stamps
        }

        func begin(at start: FeedTime) {}

        func readCompletions(_ body: (CompletionKey, StoredCompletion) -> Void) -> CompletionHead? { nil }

        func append(_ new: [StoredClaims], _ changes: CompletionChanges, stampCeiling: Int64?) throws(LogError) {
            bounds.withLock { $0.append(stamps.reserved) }
            let isFull = failures.withLock { left in
                left -= 1
                return left >= 0
            }
            if isFull { throw LogError("the disk is full") }
            claims.withLock { $0 += new }
            if let stampCeiling { ceiling.withLock { $0 = stampCeiling } }
        }

        func read(_ body: (StoredClaims) -> Void) {}
    }

    @Test(.timeLimit(.minutes(2))) func stampsAreFreeOnceTheirCeilingIsDurable() throws {
        let loop = try Loop()
        let stamps = StampCeiling(StampBounds(floor: 3, ceiling: 5), at: MonotonicTime(nanoseconds: 0))
        let disk = FullDisk(failures: 1, stamps: stamps)
        let queue = try ClaimQueue(disk, stamps: stamps, loop: loop)
        queue.onDurable = { _, _ in
            // The claim is of the commit of these ceilings, or of a later one.
            #expect(disk.stampCeiling == 20)
            loop.stop()
        }
        queue.reserve(stampsThrough: 20)
        queue.reserve(stampsThrough: 12)
        queue.append(Self.claims("a", through: 1, [1]), 1, shard: 0)
        loop.run()
        // A shard that is behind another one lowers no ceiling.
        queue.reserve(stampsThrough: 15)
        queue.append(Self.claims("a", through: 1, [1]), 2, shard: 0)
        loop.run()
        queue.close()
        #expect(disk.bounds.withLock { $0.prefix(2) } == [5, 5], "raised before the disk has taken it")
        #expect(stamps.bounds(at: MonotonicTime(nanoseconds: 0)) == StampBounds(floor: 3, ceiling: 20))
    }

    @Test(.timeLimit(.minutes(2))) func theQueueAnswersWhenClaimsAreDurable() throws {
        let loop = try Loop()
        let disk = FullDisk(failures: 1)
        let queue = try ClaimQueue(disk, stamps: StampCeiling(), loop: loop)
        var durable: [Int: UInt64] = [:]
        var lines: [String] = []
        queue.onReport = { lines.append($0) }
        queue.onDurable = { ticket, shard in
            durable[shard] = ticket
            #expect(disk.claims.withLock(\.count) >= Int(durable.values.reduce(0, +)))
            if durable == [0: 2, 1: 1] { loop.stop() }
        }
        queue.append(Self.claims("a", through: 1, [1]), 1, shard: 0)
        queue.append(Self.claims("b", through: 1, [2]), 1, shard: 1)
        queue.append(Self.claims("a", through: 2, [3]), 2, shard: 0)
        loop.run()
        #expect(lines.count == 1 && lines[0].contains("the disk is full"))
        queue.close()
        loop.close()
    }

    @Test(.timeLimit(.minutes(2))) func aClosedQueueWaitsForNoClaimThatTheDiskRefuses() throws {
        let loop = try Loop()
        let queue = try ClaimQueue(FullDisk(failures: .max), stamps: StampCeiling(), loop: loop)
        queue.onReport = { _ in loop.stop() }
        queue.append(Self.claims("a", through: 1, [1]), 1, shard: 0)
        loop.run()
        let (before, waiting) = (queue.meter.figures, queue.meter.waiting)
        queue.close()
        loop.close()
        let after = queue.meter.figures
        #expect(before.trouble != nil && waiting == 1)
        #expect(after.trouble == nil && after.running(at: CommitMeter.now) == nil && queue.meter.waiting == 0)
    }
}
