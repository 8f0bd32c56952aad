import Fanfare
import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

/// Copies of a store that an engine uses at the time.
@Suite struct EngineBackupTests {
    private static let program = "/usr/bin/mdb_copy"
    static let isThere = FileManager.default.isExecutableFile(atPath: program)
    static let whyNot: Comment = "mdb_copy is missing: apt install lmdb-utils"

    private static let match = TopicID("match/1")

    private static func goal(_ number: Int) -> FeedEvent {
        let at = FeedTime(seconds: 1_790_000_000 + Int64(60 * number))
        return FeedEvent(
            topic: match, topicKind: .football, at: at, id: "e\(number)", kind: "x",
            change: .fact(Fact(id: "g\(number)", kind: "goal", at: at, values: ["side": "home"])))
    }

    /// Runs LMDB's own program and waits for its end.
    ///
    /// - Returns: its exit status.
    private static func copy(_ folder: String, to target: String) throws -> Int32 {
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [folder, target]
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test(.enabled(if: EngineBackupTests.isThere, EngineBackupTests.whyNot), .timeLimit(.minutes(10)))
    func aCopyByLMDBsProgramOfARunningEnginesStoreHasEverybody() async throws {
        let (store, backup) = (TemporaryFolder(), TemporaryFolder())
        let engine = try await Engine.launch(Engine.Options(transport: .discard, store: .folder(store.path)))
        let count = 50
        for number in 0..<count {
            _ = try await engine.ingest(Self.goal(number))
            _ = try await engine.follow(
                .topic(Self.match), activity: ActivityID("card \(number)"), subscriber: "anna",
                token: [1, UInt8(number)])
        }
        for part in ["", "/people"] {
            let status = try Self.copy(store.path + part, to: backup.path + part)
            #expect(status == 0)
        }
        // The engine has noticed nothing.
        let later = try await engine.follow(.topic(Self.match), activity: "later", subscriber: "anna", token: [2])
        #expect(later.durability == .durable)
        _ = await engine.shutdown()

        let restored = try await Engine.launch(Engine.Options(transport: .discard, store: .folder(backup.path)))
        #expect(try await restored.topicState(Self.match) != nil)
        // Figures are a tenth of a second old at most, and cards are loaded while the engine serves.
        while try await restored.counts().activities < count {}
        #expect(await restored.settle(within: .seconds(300)))
        #expect(try await restored.counts().activities == count)
        _ = await restored.shutdown()
    }
}
