import FanfareModel
import FanfareTestSupport
import Foundation
import Glibc
import Testing

@testable import FanfareLog

/// Stores whose files the system refuses to open or to make. Each test is in a process of its own: limits and the user are the whole process's.
@Suite struct RefusedFileTests {
    static let entry = LogEntry(now: FeedTime(milliseconds: 1), .tick)

    static let card = Card(
        subscriber: "anna", activity: "card", token: [1, 2], audience: .topic(TopicID("match/1")),
        startedAt: FeedTime(seconds: 1_790_000_000))

    /// Returns the head of a checkpoint of the log's first entry.
    static func head(of log: LMDBLog) throws(LogError) -> CheckpointHead {
        CheckpointHead(
            position: 1, now: entry.now, checksum: try log.checksum(at: 1) ?? 0,
            rules: LogRules(text: "rules", decisionVersion: 1))
    }

    /// Returns the fault of a call while the process may have no descriptor from that number on.
    static func refusal(files: Int, _ body: () throws(LogError) -> Void) -> LogError? {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        let before = limit.rlim_cur
        limit.rlim_cur = rlim_t(files)
        setrlimit(resource, &limit)
        let fault = refusal(body)
        limit.rlim_cur = before
        setrlimit(resource, &limit)
        return fault
    }

    static func refusal(_ body: () throws(LogError) -> Void) -> LogError? {
        do throws(LogError) { try body() } catch { return error }
        return nil
    }

    /// Each step of the opening lacks a descriptor once. A lock that stayed would refuse the next opening for another reason.
    @Test func aStoreThatLacksDescriptorsSaysSoAndOpensOnceThereAreSome() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            try LMDBLog(folder: folder.path).append([RefusedFileTests.entry])
            try LMDBPeopleStore(store: folder.path).apply([.insert(RefusedFileTests.card)])
            var refused = 0
            for files in 3...48 {
                let faults = [
                    RefusedFileTests.refusal(files: files) { () throws(LogError) in
                        _ = try LMDBLog(folder: folder.path)
                    },
                    RefusedFileTests.refusal(files: files) { () throws(LogError) in
                        _ = try LMDBPeopleStore(store: folder.path)
                    },
                ]
                for fault in faults.compactMap(\.self) {
                    refused += 1
                    let isNamed = fault.description.contains("Too many open files")
                    #expect(isNamed && fault.cause == .system, "\(files) descriptors: \(fault)")
                }
            }
            #expect(refused > 3, "the limit has had no effect")
            let log = try LMDBLog(folder: folder.path)
            let cards = try LMDBPeopleStore(store: folder.path).count()
            #expect(log.end == 1 && cards == 1)
        }
    }

    @Test func anOpenStoreTakesEntriesWithoutADescriptorAndACheckpointOnceThereIsOne() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            do {
                let log = try LMDBLog(folder: folder.path)
                let people = try LMDBPeopleStore(store: folder.path)
                try log.append([RefusedFileTests.entry])
                let head = try RefusedFileTests.head(of: log)
                let fault = RefusedFileTests.refusal(files: 3) { () throws(LogError) in
                    try log.append([RefusedFileTests.entry])
                    try people.apply([.insert(RefusedFileTests.card)])
                }
                #expect(fault == nil)
                let refused = RefusedFileTests.refusal(files: 3) { () throws(LogError) in
                    try log.checkpoints.begin(head)
                }
                #expect(refused?.description.hasSuffix(": cannot be written: Too many open files") == true)
                try log.checkpoints.begin(head)
                _ = try log.checkpoints.finish()
                let newest = try log.newestCheckpoint { Issue.record("\($0)") }.head
                #expect(newest == head)
            }
            let end = try LMDBLog(folder: folder.path).end
            let cards = try LMDBPeopleStore(store: folder.path).count()
            #expect(end == 2 && cards == 1)
        }
    }

    /// Root may write to any folder, and is nobody for this test.
    @Test func aFolderThatIsReadOnlyIsNoStoreAndAStoreInItTakesEntriesButNoCheckpoint() async {
        await #expect(processExitsWith: .success) {
            let temporary = try TemporaryFolder.made()
            let isRoot = geteuid() == 0
            if isRoot { try #require(chown(temporary.path, 65_534, 65_534) == 0) }
            // A path may lead through a folder that is root's alone; a process that is in the folder needs none.
            try #require(chdir(temporary.path) == 0)
            if isRoot { try #require(seteuid(65_534) == 0) }
            let folder = "."
            chmod(folder, 0o555)
            let refused = RefusedFileTests.refusal { () throws(LogError) in _ = try LMDBLog(folder: folder) }
            #expect(refused == LogError("./owner: cannot be written: Permission denied"))
            let unmade = RefusedFileTests.refusal { () throws(LogError) in _ = try LMDBLog(folder: folder + "/store") }
            #expect(unmade == LogError("./store: cannot be made: Permission denied"))
            chmod(folder, 0o755)
            try LMDBLog(folder: folder).append([RefusedFileTests.entry])
            chmod(folder, 0o555)
            do {
                let log = try LMDBLog(folder: folder)
                try log.append([RefusedFileTests.entry])
                let head = try RefusedFileTests.head(of: log)
                let begun = RefusedFileTests.refusal { () throws(LogError) in try log.checkpoints.begin(head) }
                #expect(begun?.description.hasSuffix(": cannot be written: Permission denied") == true)
            }
            let end = try LMDBLog(folder: folder).end
            #expect(end == 2)
            chmod(folder, 0o755)
            if isRoot { try #require(seteuid(0) == 0) }
            // The folder goes with its object.
            withExtendedLifetime(temporary) {}
        }
    }
}
