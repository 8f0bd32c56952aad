import FanfareTestSupport
import Foundation
import Testing

@Suite struct TemporaryFolderTests {
    @Test func aFolderGoesWithItsObject() throws {
        var folder: TemporaryFolder? = try TemporaryFolder.made()
        let path = try #require(folder?.path)
        try Data("key".utf8).write(to: URL(filePath: path + "/key.p8"))
        TemporaryFolder.removeThoseOfTheDead()
        #expect(FileManager.default.fileExists(atPath: path))
        folder = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func theFolderOfADeadProcessIsRemoved() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/true")
        try process.run()
        process.waitUntilExit()
        let path = NSTemporaryDirectory() + "fanfare-test.\(process.processIdentifier).left"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data("key".utf8).write(to: URL(filePath: path + "/key.p8"))
        TemporaryFolder.removeThoseOfTheDead()
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
