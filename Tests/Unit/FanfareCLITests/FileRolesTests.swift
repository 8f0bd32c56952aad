import Foundation
import Testing

@testable import FanfareCLI

/// Nothing that is read is emptied, whatever it is called where it is written.
@Suite struct FileRolesTests {
    private final class Folder {
        let path = NSTemporaryDirectory() + "fanfare-roles-" + UUID().uuidString
        init() throws {
            try FileManager.default.createDirectory(atPath: path + "/feeds", withIntermediateDirectories: true)
            for file in ["day.ndjson", "feeds/match.json"] {
                try Data("kept".utf8).write(to: URL(fileURLWithPath: self(file)))
            }
            try FileManager.default.createSymbolicLink(atPath: self("link"), withDestinationPath: self("day.ndjson"))
        }
        deinit { try? FileManager.default.removeItem(atPath: path) }
        func callAsFunction(_ name: String) -> String { path + "/" + name }
    }

    @Test(arguments: ["day.ndjson", "./day.ndjson", "feeds/../day.ndjson", "link"])
    func aFileThatIsReadIsNotWritten(name: String) throws {
        let folder = try Folder()
        var roles = FileRoles()
        roles.reads(folder("day.ndjson"))
        let error = #expect(throws: UsageError.self) { _ = try roles.open(folder(name), option: "--decisions") }
        #expect(error?.description.contains("is read and written") == true)
        #expect(try String(contentsOfFile: folder("day.ndjson"), encoding: .utf8) == "kept")
    }

    @Test func noFileOfAFolderThatIsReadIsWritten() throws {
        let folder = try Folder()
        var roles = FileRoles()
        roles.reads(folder("feeds/"))
        #expect(throws: UsageError.self) { _ = try roles.open(folder("feeds/match.json"), option: "--states") }
        #expect(try String(contentsOfFile: folder("feeds/match.json"), encoding: .utf8) == "kept")
        _ = try roles.open(folder("feeds/new.json"), option: "--states")
    }

    @Test func noFileIsWrittenTwice() throws {
        let folder = try Folder()
        var roles = FileRoles()
        _ = try roles.open(folder("new"), option: "--decisions")
        #expect(throws: UsageError.self) { _ = try roles.open(folder("./new"), option: "--states") }
        _ = try roles.open("/dev/null", option: "--decisions")
        _ = try roles.open("/dev/null", option: "--states")
    }
}
