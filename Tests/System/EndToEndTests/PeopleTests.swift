import Foundation
import Testing

/// `fanfare people` on a real folder, and a replay that loads its people from there.
@Suite(.enabled(if: Binary.areThere, "\(Binary.whyNot)"), .timeLimit(.minutes(20)))
struct PeopleTests {
    private func people(_ words: [String], _ folder: Folder) throws -> Program.End {
        try Program.run(.fanfare, ["people"] + words, folder: folder)
    }

    /// Makes a store with subscribers of the generated kind, and returns the file they came from.
    private func fill(_ folder: Folder, count: Int) throws -> String {
        let file = folder("people.txt")
        let made = try Program.run(
            .fanfare, ["generate", "subscribers", "--count", "\(count)", "--output", file], folder: folder)
        #expect(made.status == 0, "\(made.errors)")
        let end = try people(["import", folder("store"), file], folder)
        #expect(end.status == 0 && end.output == "imported \(count) cards\n", "\(end.output) \(end.errors)")
        return file
    }

    private func lines(_ file: String) throws -> [String] {
        try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    @Test func importedCardsAreExportedToAFileOfTheOwnerAlone() throws {
        let folder = try Folder()
        let file = try fill(folder, count: 900)
        let target = try folder.write("out.txt", "old content, which anybody may read")
        #expect(try people(["export", folder("store"), target], folder).status == 0)
        let mode = try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        // The words after the tokens are in canonical form, so topics and tokens are compared.
        func heads(_ lines: [String]) -> [String] {
            lines.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }.sorted()
        }
        #expect(heads(try lines(target)) == heads(try lines(file)))
        // An export stays equal when its cards have been in another store.
        #expect(try people(["import", folder("second"), target], folder).status == 0)
        #expect(try people(["export", folder("second"), folder("again.txt")], folder).status == 0)
        #expect(try lines(folder("again.txt")).sorted() == lines(target).sorted())
    }

    @Test func anImportMadeTwiceIsPrunedAndAPersonIsForgotten() throws {
        let folder = try Folder()
        let file = try folder.write(
            "people.txt", "match/1 01 subscriber=anna activity=card\nmatch/1 02 subscriber=bo\nmatch/1 03\n")
        for _ in 1...2 { #expect(try people(["import", folder("store"), file], folder).status == 0) }
        let pruned = try people(["prune", folder("store")], folder)
        #expect(pruned.output.hasPrefix("removed 3 cards: 0 that began before"), "\(pruned.output) \(pruned.errors)")
        #expect(try people(["forget", folder("store"), "anna", "nobody"], folder).output == "forgot 1 card\n")
        let all = try people(["prune", folder("store"), "--before", "2100-01-01T00:00:00Z"], folder)
        #expect(all.status == 2, "a time beyond 2100 is refused")
        let over = try people(["prune", folder("store"), "--before", "2099-01-01T00:00:00Z"], folder)
        #expect(over.output.hasPrefix("removed 2 cards: 2 that began before 2099"), "\(over.output) \(over.errors)")
        #expect(try people(["check", folder("store")], folder).output == "good: 0 cards\n")
    }

    @Test func brokenLinesAreLeftOutAndReported() throws {
        let folder = try Folder()
        let file = try folder.write("people.txt", "match/1 01\nmatch/1 zz\nmatch/1 02\n")
        let end = try people(["import", folder("store"), file], folder)
        #expect(end.status == 1 && end.errors.contains("people.txt:2: "))
        #expect(end.output == "imported 2 cards; 1 broken lines were left out\n")
    }

    /// A limit on the size of files stands for a full disk.
    @Test func aStoreThatCannotGrowSaysSoAndKeepsWhatItHas() throws {
        let folder = try Folder()
        let file = folder("people.txt")
        let made = try Program.run(
            .fanfare, ["generate", "subscribers", "--count", "40000", "--output", file], folder: folder)
        #expect(made.status == 0)
        let fanfare = try #require(Binary.fanfare.path)
        let limited = "trap '' XFSZ; ulimit -f 3000; exec \"$0\" people import \"$1\" \"$2\""
        let end = try Program(
            path: "/bin/bash", ["-c", limited, fanfare, folder("store"), file], folder: folder
        ).wait()
        #expect(end.status == 1, "\(end.output)")
        #expect(end.errors.contains("cannot be written: "), "\(end.errors)")
        #expect(end.errors.contains("imported so far: "), "\(end.errors)")
        let check = try people(["check", folder("store")], folder)
        #expect(check.status == 0 && check.output.hasPrefix("good: "), "\(check.output) \(check.errors)")
    }

    @Test func aFullDiskEndsAnExport() throws {
        let folder = try Folder()
        _ = try fill(folder, count: 10)
        let end = try people(["export", folder("store"), "/dev/full"], folder)
        #expect(end.status == 1 && end.errors.contains("/dev/full: cannot be written"), "\(end.errors)")
    }

    @Test func anExportThatFailsKeepsTheFormerOne() throws {
        let folder = try Folder()
        _ = try fill(folder, count: 900)
        let former = try folder.write("out.txt", "the former export\n")
        let fanfare = try #require(Binary.fanfare.path)
        let limited = "trap '' XFSZ; ulimit -f 50; exec \"$0\" people export \"$1\" \"$2\""
        let end = try Program(path: "/bin/bash", ["-c", limited, fanfare, folder("store"), former], folder: folder)
            .wait()
        #expect(end.status == 1 && end.errors.contains("cannot be written: "), "\(end.errors)")
        #expect(try lines(former) == ["the former export"])
        #expect(!FileManager.default.fileExists(atPath: former + ".partial"))
        // With room for it, the export replaces the former file; a link to it stays one.
        try FileManager.default.createSymbolicLink(atPath: folder("link.txt"), withDestinationPath: former)
        #expect(try people(["export", folder("store"), folder("link.txt")], folder).status == 0)
        #expect(try lines(former).count == 900)
        let mode = try FileManager.default.attributesOfItem(atPath: former)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func aDamagedCardIsNamedAndTheOthersAreExported() throws {
        let folder = try Folder()
        let even = try folder.write(
            "even.txt", (0..<100).map { "match/1 \(String(1000 + $0)) activity=card-\($0).\n" }.joined())
        #expect(try people(["import", folder("store"), even], folder).status == 0)
        let data = URL(fileURLWithPath: folder("store/people/data.mdb"))
        var bytes = try Data(contentsOf: data)
        let place = try #require(bytes.range(of: Data("card-42.".utf8)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: data)
        let check = try people(["check", folder("store")], folder)
        #expect(check.status == 1 && check.errors.contains("its checksum is wrong"), "\(check.errors)")
        #expect(check.errors.contains("good: 99 cards, damaged: 1"), "\(check.errors)")
        let export = try people(["export", folder("store"), folder("out.txt")], folder)
        #expect(export.status == 1)
        #expect(try lines(folder("out.txt")).count == 99)
    }

    @Test func aBackupOfARunningReplaysStoreHasItsEntriesAndItsPeople() throws {
        let folder = try Folder()
        _ = try fill(folder, count: 500)
        let replay = try Program(
            .fanfare, ["replay", "-", "--store", folder("store"), "--decisions", "-"], folder: folder, hasInput: true)
        try replay.write(LiveMatch.kickOff)
        try replay.write(LiveMatch.goal(1))
        try replay.waitUntil("the goal") { output, _ in output.count { $0 == "\n" } >= 2 }
        let backup = ["log", "backup", folder("store"), folder("copy")]
        let made = try Program.run(.fanfare, backup, folder: folder)
        #expect(made.status == 0 && made.output.hasPrefix("copied the entries 1 to "), "\(made.output) \(made.errors)")
        #expect(made.output.hasSuffix(" and the people\n"), "\(made.output)")
        let again = try Program.run(.fanfare, backup, folder: folder)
        #expect(again.status == 1 && again.errors.contains("File exists"), "\(again.errors)")
        try replay.closeInput()
        let end = try replay.wait()
        #expect(end.status == 0, "\(end.errors)")
        let log = try Program.run(.fanfare, ["log", "check", folder("copy")], folder: folder)
        #expect(log.status == 0 && log.output.hasPrefix("good: "), "\(log.output) \(log.errors)")
        #expect(try people(["check", folder("copy")], folder).output == "good: 500 cards\n")
    }

    @Test func aReplayLoadsItsPeopleFromTheStore() throws {
        let folder = try Folder()
        let feed = try TestFeed.matchDay.paths(in: folder)
        _ = try fill(folder, count: 500)
        let replay = ["replay"] + feed + ["--store", folder("store"), "--until", "2026-06-13T14:10:00Z"]
        let end = try Program.run(.fanfare, replay, folder: folder)
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.errors.contains("store: 500 subscribers"), "\(end.errors)")
        let pushes = try #require(end.output.split(separator: "\n").first { $0.hasPrefix("pushes ") })
        #expect(pushes.contains(" accepted, 0 dead") && !pushes.contains(" 0 sent"), "\(pushes)")
        let both = try Program.run(.fanfare, replay + ["--subscribers", folder("people.txt")], folder: folder)
        #expect(both.status == 2 && both.errors.contains("the store has people of its own"), "\(both.errors)")
    }
}
