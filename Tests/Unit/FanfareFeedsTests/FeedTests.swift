import FanfareModel
import Foundation
import Testing

@testable import FanfareFeeds

@Suite struct FeedTests {
    /// It would be empty the second time.
    @Test func aPipeIsNotReadTwice() throws {
        let folder = try Folder()
        let pipe = folder.path + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let file = try folder.write("day.ndjson", "")
        let error = #expect(throws: FeedError.self) { try Feed.requireRereadable([file, pipe]) }
        #expect(error?.path == pipe)
        try Feed.requireRereadable([file, folder.path, folder.path + "/missing"])
    }

    private func line(_ topic: String, _ at: Int, _ id: String) -> String {
        #"{"topic":"\#(topic)","at":\#(at),"id":"\#(id)"}"# + "\n"
    }

    /// A backup below a folder repeats the folder's own path.
    @Test func aFolderBelowMayHaveTheFoldersOwnPath() throws {
        let folder = try Folder()
        try folder.write(String(folder.path.dropFirst()) + "/m.ndjson", line("a", 1, "a1"))
        let feed = try Feed(paths: [folder.path])
        #expect(feed.events().compactMap(\.id) == ["a1"])
    }

    @Test(.enabled(if: geteuid() != 0, "the superuser may read every folder"))
    func aFolderThatCannotBeReadIsAnError() throws {
        let folder = try Folder()
        try folder.write("closed/m.ndjson", line("a", 1, "a1"))
        try #require(chmod(folder.path + "/closed", 0) == 0)
        defer { chmod(folder.path + "/closed", 0o700) }
        #expect(throws: FeedError.self) { try Feed(paths: [folder.path]) }
    }

    @Test func mergesByLogTimeThenPathAndKeepsAFilesOrder() throws {
        let folder = try Folder()
        // `b` delivers its second line late: it stays behind the first one.
        try folder.write("b.ndjson", line("b", 10, "b1") + line("b", 5, "b2") + line("b", 20, "b3"))
        try folder.write("a.ndjson", line("a", 7, "a1") + line("a", 10, "a2") + line("a", 11, "a3"))
        let feed = try Feed(paths: [folder.path])
        let items = feed.all()
        #expect(items.compactMap(\.item.event?.id) == ["a1", "a2", "b1", "b2", "a3", "b3"])
        #expect(items.map(\.now.milliseconds) == [7000, 10_000, 10_000, 10_000, 11_000, 20_000])
    }

    @Test func aFeedReadsANamedFileOnceWhateverTheOrderOfNames() throws {
        let folder = try Folder()
        let a = try folder.write("a", line("a", 1, "a1"))
        let b = try folder.write("b", line("b", 1, "b1"))
        let feed = try Feed(paths: [b, a, b])
        #expect(feed.events().compactMap(\.id) == ["a1", "b1"])
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func mergingKeepsItsPromises(seed: UInt64) throws {
        var dice = SplitMix64(seed: seed)
        let folder = try Folder()
        var expected: [(now: Int, file: Int, line: Int)] = []
        for file in 0..<Int.random(in: 1...12, using: &dice) {
            var text = ""
            var now = 0
            for number in 0..<Int.random(in: 1...30, using: &dice) {
                let at = Int.random(in: 0...50, using: &dice)
                now = max(now, at)
                expected.append((now, file, number))
                text += line("t", at, "\(file)/\(number)")
            }
            try folder.write("\(Character(UnicodeScalar(UInt8(97 + file))))", text)
        }
        expected.sort { ($0.now, $0.file, $0.line) < ($1.now, $1.file, $1.line) }
        let feed = try Feed(paths: [folder.path])
        let items = feed.all()
        #expect(items.compactMap(\.item.event?.id) == expected.map { "\($0.file)/\($0.line)" }, "seed \(seed)")
        #expect(items.map(\.now) == expected.map { FeedTime(seconds: Int64($0.now)) }, "seed \(seed)")
    }

    @Test func skipsAndListsWhatIsNoFeedInAFolder() throws {
        let folder = try Folder()
        try folder.write("deep/er/match.ndjson", line("a", 1, "a1"))
        let readme = try folder.write("README.md", "# Words\n")
        try folder.write("facts.json", #"{"topic":"not a feed"}"#)
        let feed = try Feed(paths: [folder.path])
        #expect(feed.skippedFiles == [readme])
        #expect(feed.events().count == 1)
    }

    @Test func aRejectionDoesNotMoveTheClock() throws {
        let folder = try Folder()
        try folder.write("a", line("a", 5, "a1") + #"{"topic":"a","at":9,"seq":-1}"# + "\n" + line("a", 6, "a2"))
        let feed = try Feed(paths: [folder.path])
        let items = feed.all()
        #expect(items.map(\.now) == [5, 5, 6].map { FeedTime(seconds: $0) })
        #expect(items[1].item.rejection?.location == folder.path + "/a:2")
    }

    @Test func aNamedFileMustBeAFeed() throws {
        let folder = try Folder()
        let file = try folder.write("notes.txt", "hello\n")
        #expect(throws: FeedError.self) { try Feed(paths: [file]) }
        #expect(throws: FeedError.self) { try Feed(paths: [folder.path]) }
        #expect(throws: FeedError.self) { try Feed(paths: [folder.path + "/none"]) }
    }

    @Test func aNamedFormatIsBelieved() throws {
        let folder = try Folder()
        let file = try folder.write("broken", "hello\n")
        let feed = try Feed(paths: [file], options: FeedOptions(format: .native))
        #expect(feed.all().first?.item.rejection?.location == "\(file):1")
    }

    @Test func aSecondLoopGoesOnWhereTheFirstHasStopped() throws {
        let folder = try Folder()
        let expected = (0..<6000).map { "\($0)" }
        let text = expected.indices.map { line("a", $0, expected[$0]) }.joined()
        try #require(text.utf8.count > 200_000, "several chunks")
        let feed = try Feed(paths: [try folder.write("day.ndjson", text)])
        var ids: [String] = []
        for (_, item) in feed {
            ids.append(item.event?.id ?? "no event")
            if ids.count == 2000 { break }
        }
        for (_, item) in feed { ids.append(item.event?.id ?? "no event") }
        for (_, item) in feed { Issue.record("read again: \(item)") }
        #expect(ids == expected)
    }

    /// Returns the names of the folder's files that this process has open.
    private func openFiles(in folder: Folder) throws -> [String] {
        let descriptors = "/proc/self/fd"
        let paths = try FileManager.default.contentsOfDirectory(atPath: descriptors).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: descriptors + "/" + $0)
        }
        let name = (folder.path as NSString).lastPathComponent
        return paths.filter { $0.contains(name) }.map { ($0 as NSString).lastPathComponent }.sorted()
    }

    @Test func aFileIsClosedOnceItsLastItemIsTaken() throws {
        let folder = try Folder()
        try folder.write("a.ndjson", line("a", 1, "a1"))
        try folder.write("b.ndjson", line("b", 2, "b1") + line("b", 3, "b2"))
        let feed = try Feed(paths: [folder.path])
        #expect(try openFiles(in: folder) == ["a.ndjson", "b.ndjson"])
        let first = feed.next()
        #expect(first?.item.event?.id == "a1")
        #expect(try openFiles(in: folder) == ["b.ndjson"])
        let rest = feed.events()
        #expect(rest.compactMap(\.id) == ["b1", "b2"])
        #expect(try openFiles(in: folder).isEmpty)
        #expect(feed.skippedFiles.isEmpty)
    }

    @Test(arguments: FeedFormat.allCases) func aKickOffOutsideThePlausibleTimesIsOneError(format: FeedFormat) throws {
        let folder = try Folder()
        let file = try folder.write("match", "{}")
        let options = FeedOptions(format: format, kickoff: FeedTime(seconds: -1))
        let error = #expect(throws: FeedError.self) { try Feed(paths: [file], options: options) }
        let told =
            ": the kick-off: the time 1969-12-31T23:59:59.000Z lies outside 1970 to 2100 (milliseconds? Unix seconds "
            + "are expected)"
        #expect(error?.description == file + told)
    }

    /// A program that embeds the library has no command line.
    @Test func noTextOfTheLibraryNamesAnOptionOfTheCommandLine() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/FanfareFeeds").standardized
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        #expect(!files.isEmpty)
        for file in files {
            let text = try String(contentsOf: sources.appendingPathComponent(file), encoding: .utf8)
            for row in text.split(separator: "\n") where !row.drop(while: \.isWhitespace).hasPrefix("//") {
                let names = row.firstMatch(of: #/--[a-z]+/#).map { String($0.output) }
                #expect(names == nil, "\(file)")
            }
        }
    }

    @Test func aFeedFollowsLinksToFiles() throws {
        let folder = try Folder()
        let elsewhere = try Folder()
        let file = try elsewhere.write("match", line("a", 1, "a1"))
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: file)
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/loop", withDestinationPath: folder.path)
        let feed = try Feed(paths: [folder.path])
        #expect(feed.events().compactMap(\.id) == ["a1"])
    }

    @Test func aFeedReadsAPipeAsLines() throws {
        let folder = try Folder()
        let pipe = folder.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let text = line("a", 1, "a1") + line("a", 2, "a2")
        // Opening either end of a named pipe waits for the other one.
        let writer = Thread { try? FileHandle(forWritingAtPath: pipe)?.write(contentsOf: Data(text.utf8)) }
        writer.start()
        let feed = try Feed(paths: [pipe])
        #expect(feed.events().compactMap(\.id) == ["a1", "a2"])
    }

    @Test func aFileThatCannotBeReadIsNamed() throws {
        let folder = try Folder()
        let error = #expect(throws: FeedError.self) {
            try Feed(paths: [folder.path + "/none"], options: FeedOptions(format: .native))
        }
        #expect(error?.description == folder.path + "/none: there is no such file or folder")
    }
}
