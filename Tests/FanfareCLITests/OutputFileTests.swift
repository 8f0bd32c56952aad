import Foundation
import Testing

@testable import FanfareCLI

@Suite struct OutputFileTests {
    private let path = NSTemporaryDirectory() + "fanfare-output-" + UUID().uuidString

    private var contents: String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test func aLiveFileHasEveryLineAtOnce() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try OutputFile(path: path, option: "--decisions", isLive: true)
        file.write("one\n")
        #expect(contents == "one\n")
        file.write("two\n")
        #expect(contents == "one\ntwo\n")
    }

    @Test func anyOtherFileIsWholeWhenItIsLetGo() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let line = String(repeating: "x", count: 99) + "\n"
        do {
            let file = try OutputFile(path: path, option: "--decisions")
            for _ in 0..<10_000 { file.write(line) }
            #expect(file.failure == nil)
        }
        #expect(contents == String(repeating: line, count: 10_000))
    }

    @Test func aFullDiskIsRememberedOnce() throws {
        let file = try OutputFile(path: "/dev/full", option: "--states")
        file.write("x")
        #expect(file.failure == nil)
        file.flush()
        #expect(file.failure == "/dev/full: cannot be written: No space left on device")
        file.write("y")
        file.flush()
    }

    @Test func aPathThatCannotBeIsAUsageError() {
        let error = #expect(throws: UsageError.self) {
            try OutputFile(path: "/nonexistent/file", option: "--states")
        }
        #expect(error?.description == "--states /nonexistent/file: cannot be written: No such file or directory")
    }
}
