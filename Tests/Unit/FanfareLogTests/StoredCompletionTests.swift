import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

@testable import FanfareLog

/// Completions in a store: which versions people have.
@Suite struct StoredCompletionTests {
    private static func completion(_ birth: UInt64, version: UInt32 = 1, _ marks: [UInt32] = []) -> StoredCompletion {
        StoredCompletion(
            topic: TopicID("match/\(birth)"), app: AppID(bundleID: "com.example", environment: .development),
            birth: birth, version: version, displayHash: version &* 99,
            before: FeedTime(milliseconds: 1_781_359_200_123), serials: 77,
            exceptions: marks.map(ActivityMark.init(rawValue:)))
    }

    private static func key(_ birth: UInt64, app: Int = 0) -> CompletionKey { CompletionKey(birth: birth, app: app) }

    private static func head(_ position: LogPosition) -> CompletionHead {
        CompletionHead(position: position, now: FeedTime(milliseconds: Int64(position) * 1000))
    }

    private static func changes(_ completions: [StoredCompletion], _ position: LogPosition = 1) -> CompletionChanges {
        var changes = CompletionChanges()
        for completion in completions { changes.note(completion, at: key(completion.birth), head(position)) }
        return changes
    }

    private static func read(
        _ store: any ClaimStore
    ) throws -> (rows: [UInt64: StoredCompletion], head: CompletionHead?) {
        var rows: [UInt64: StoredCompletion] = [:]
        let head = try store.readCompletions { rows[$0.birth] = $1 }
        return (rows, head)
    }

    private static func store(inMemory: Bool, _ folder: TemporaryFolder) throws -> any ClaimStore {
        inMemory ? MemoryClaims() : try ClaimFolder(store: folder.path)
    }

    @Test(arguments: [true, false]) func theNewestCompletionOfATopicIsKept(inMemory: Bool) throws {
        let folder = try TemporaryFolder.made()
        let store = try Self.store(inMemory: inMemory, folder)
        #expect(try Self.read(store).head == nil)
        try store.append([], Self.changes([Self.completion(1), Self.completion(2, [5, 6])], 3))
        try store.append([], Self.changes([Self.completion(1, version: 8)], 4))
        var found = try Self.read(store)
        #expect(found.rows == [1: Self.completion(1, version: 8), 2: Self.completion(2, [5, 6])])
        #expect(found.head == Self.head(4))
        var forgotten = CompletionChanges()
        forgotten.forget(Self.key(1))
        forgotten.forget(Self.key(99))
        try store.append([], forgotten)
        found = try Self.read(store)
        #expect(Set(found.rows.keys) == [2] && found.head == Self.head(4))
        var void = CompletionChanges()
        void.void()
        try store.append([], void)
        found = try Self.read(store)
        #expect(found.rows.isEmpty && found.head == nil)
    }

    @Test func aFolderHasItsCompletionsAgainBesideItsClaims() throws {
        let folder = try TemporaryFolder.made()
        let first = try ClaimFolder(store: folder.path)
        try first.begin(at: FeedTime(milliseconds: 5))
        try first.append([], Self.changes([Self.completion(1)]))
        first.close()
        let second = try ClaimFolder(store: folder.path)
        #expect(second.start == FeedTime(milliseconds: 5))
        #expect(try Self.read(second).rows == [1: Self.completion(1)])
        second.close()
        try ClaimFolder.suspend(store: folder.path)
        let third = try ClaimFolder(store: folder.path)
        #expect(try third.start == nil && Self.read(third).head == nil, "a replay has used the store")
        third.close()
    }

    /// Changes written in parts add up to the changes given at once.
    @Test func changesAddUpInAnyParts() throws {
        for seed in 1...200 {
            var random = SplitMix64(seed: UInt64(seed))
            let (whole, parts) = (MemoryClaims(), MemoryClaims())
            var (all, waiting) = (CompletionChanges(), CompletionChanges())
            for step in 1...30 {
                var change = CompletionChanges()
                let birth = UInt64.random(in: 1...6, using: &random)
                switch random.next() % 10 {
                case 0: change.void()
                case 1, 2: change.forget(Self.key(birth))
                default:
                    change.note(
                        Self.completion(birth, version: UInt32(step)), at: Self.key(birth), Self.head(LogPosition(step))
                    )
                }
                all.add(change)
                waiting.add(change)
                if random.chance(0.3) { parts.append([], waiting.take(Int.random(in: 1...3, using: &random))) }
            }
            while !waiting.isEmpty { parts.append([], waiting.take(2)) }
            whole.append([], all)
            #expect(whole.completions == parts.completions, "seed \(seed)")
        }
    }

    @Test func aDamagedRowIsNoticed() throws {
        let key = Self.key(7, app: 3)
        let completion = Self.completion(7, [1, 2, 3])
        let bytes = completion.bytes(key: key)
        #expect(try StoredCompletion(bytes, key: key) == completion)
        #expect(throws: SerialError.self) { try StoredCompletion(bytes, key: Self.key(8, app: 3)) }
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1
            #expect(throws: SerialError.self) { try StoredCompletion(damaged, key: key) }
        }
        #expect(try CompletionHead(Self.head(9).bytes()) == Self.head(9))
    }

    private static func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    /// A completion as this release writes it. The bytes never change.
    @Test func theSecondFormOfCompletionsStaysReadable() throws {
        let key = Self.key(7, app: 3)
        let completion = Self.completion(7, version: 4, [5, 0x0102_0304])
        let hex = Self.hex(completion.bytes(key: key))
        let golden = [
            "02", "076d617463682f37", "010b636f6d2e6578616d706c6501", "04", "018c010000", "f69dc294d867", "4d",
            "020500000004030201", "8a363feb",
        ].joined()
        #expect(hex == golden)
        #expect(try StoredCompletion(completion.bytes(key: key), key: key) == completion)
    }

    /// Releases that know no completions of lineups refuse them, and do not take them for completions of followers.
    @Test func aCompletionOfLineupsHasAFormAndAKeyOfItsOwn() throws {
        let key = CompletionKey(birth: 7, app: 3, of: .lineups)
        let completion = Self.completion(7, [1, 2])
        let bytes = completion.bytes(key: key)
        #expect(bytes[0] == 3 && key.packed == Self.key(7, app: 3).packed | 1 << 15)
        #expect(CompletionKey(key.packed) == key && key.app == 3)
        #expect(try StoredCompletion(bytes, key: key) == completion)
        let followers = Self.key(7, app: 3)
        let form = LogEntry.sealed(bytes.dropLast(4), at: followers.packed)
        #expect(throws: SerialError.self) { try StoredCompletion(form, key: followers) }
    }

    /// The point of the log up to which completions are known, as this release writes it. The bytes never change.
    @Test func theFormOfTheHeadOfCompletionsStaysReadable() throws {
        #expect(Self.hex(Self.head(7).bytes()) == "0107b06d" + "bd48458a")
        #expect(try CompletionHead(Self.head(7).bytes()) == Self.head(7))
    }

    /// Bytes of a completion of form 1, which said nothing of what its version shows.
    @Test func aCompletionOfTheFormBeforeIsRead() throws {
        let key = Self.key(7, app: 3)
        var writer = SerialWriter()
        writer.write(byte: 1)
        writer.write("match/7")
        writer.write(AppID(bundleID: "com.example", environment: .development)) { $0.write($1) }
        writer.write(UInt64(4))
        writer.write(FeedTime(milliseconds: 1_781_359_200_123))
        writer.write(UInt64(77))
        writer.write(all: [UInt32(5)]) { $0.write(fixed: $1) }
        let found = try StoredCompletion(LogEntry.sealed(writer.bytes[...], at: key.packed), key: key)
        #expect(found.version == 4 && found.displayHash == nil && found.exceptions == [ActivityMark(rawValue: 5)])
        #expect(found.before == FeedTime(milliseconds: 1_781_359_200_123) && found.serials == 77)
    }

    @Test func completionsAreOfTheLogThatHasTheirEntry() throws {
        let log = MemoryLog()
        log.append((1...5).map { LogEntry(now: FeedTime(milliseconds: $0 * 1000), .tick) })
        #expect(try Self.head(5).isOf(log) && Self.head(1).isOf(log) && Self.head(0).isOf(log))
        #expect(try !Self.head(6).isOf(log), "a backup that lacks entries")
        #expect(try !CompletionHead(position: 4, now: FeedTime(milliseconds: 4001)).isOf(log), "another history")
    }
}
