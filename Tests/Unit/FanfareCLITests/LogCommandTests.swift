import Foundation
import Testing

@testable import FanfareCLI
@testable import FanfareLog

/// `fanfare log` on a folder.
@Suite final class LogCommandTests {
    private let folder = NSTemporaryDirectory() + "log-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    @Test func aMissingOrDamagedStoreIsNoFaultOfTheCommandLine() throws {
        #expect(try LogCommand(["check", folder]).run() == .incomplete)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(repeating: 7, count: 1 << 16).write(to: URL(fileURLWithPath: folder + "/data.mdb"))
        #expect(try LogCommand(["check", folder]).run() == .incomplete)
        #expect(throws: UsageError.self) { try LogCommand(["check"]) }
    }

    @Test func aStoreThatAnotherProcessUsesIsNoFaultOfTheCommandLine() throws {
        do { _ = try LMDBLog(folder: folder) }
        let lock = try StoreFolder(folder)
        #expect(try LogCommand(["trim", folder]).run() == .incomplete)
        withExtendedLifetime(lock) {}
    }

    @Test func aLogIsCalledGoodOnlyWithoutFaultsBesideItsEntries() {
        #expect(LogTally().text(faults: 0) == "good: 0 entries ()\n")
        #expect(LogTally().text(faults: 1) == "faulty, 1 fault beside good entries: 0 entries ()\n")
    }
}
