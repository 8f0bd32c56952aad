import FanfareRules
import Foundation
import Testing

/// Paths that are not those of files, or of too large ones.
@Suite struct RulesPathTests {
    /// Calls the closure with a folder, which is removed afterwards.
    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/rules-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    @Test func aFolderIsNoFile() throws {
        try inFolder { folder in
            let error = #expect(throws: TOMLError.self) { try Rules(file: folder) }
            #expect(error?.isUnreadable == true)
            #expect(error?.description == "\(folder): cannot be read: Is a directory")
        }
    }

    @Test func ofALargeFileTheBeginningIsRead() throws {
        try inFolder { folder in
            let file = folder + "/large.toml"
            try Data(repeating: UInt8(ascii: "\n"), count: 2 << 20).write(to: URL(fileURLWithPath: file))
            for path in [file, "/dev/zero"] {
                let error = #expect(throws: TOMLError.self) { try Rules(file: path) }
                #expect(error?.isUnreadable == false && error?.faults.count == 1)
                #expect(error?.faults.first?.text.hasPrefix("more than 1048576 bytes") == true)
            }
        }
    }

    /// The open of a named pipe without a writer would wait for one.
    @Test(.timeLimit(.minutes(1))) func aPipeWithoutAWriterIsNoFile() throws {
        try inFolder { folder in
            let pipe = folder + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            let error = #expect(throws: TOMLError.self) { try Rules(file: pipe) }
            #expect(error?.description == "\(pipe): cannot be read: nothing came from the pipe")
        }
    }

    /// As the shell's `<(…)` passes it.
    @Test(.timeLimit(.minutes(1))) func aPipeIsReadToItsEnd() throws {
        var ends: [Int32] = [-1, -1]
        let status = pipe(&ends)
        try #require(status == 0)
        let (reading, writing) = (ends[0], ends[1])
        let writer = Thread {
            // More than a pipe holds, so each end has to wait for the other.
            let filler = "#" + String(repeating: " ", count: 300_000) + "\n"
            for line in ["[parcel]\n", filler, "minimumInterval = \"30 s\"\n"] {
                _ = write(writing, line, line.utf8.count)
            }
            close(writing)
        }
        writer.start()
        defer { close(reading) }
        let rules = try Rules(file: "/dev/fd/\(reading)")
        #expect(rules[TopicKind("parcel")].pace.minimumInterval == .seconds(30))
    }
}
