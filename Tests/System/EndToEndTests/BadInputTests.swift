import Foundation
import Testing

/// Bad input of any kind gives one clear error and never a crash; the rest of the input is processed if there is any.
@Suite(.enabled(if: Binary.areThere, "\(Binary.whyNot)"), .timeLimit(.minutes(5)))
struct BadInputTests {
    private static let good = (1...3).map { number in
        #"{"topic":"board/1","at":\#(1_781_359_200 + 60 * number),"set":{"score":\#(number)}}"# + "\n"
    }

    struct BadLine: CustomTestStringConvertible {
        let what: String
        let bytes: [UInt8]
        let named: String
        var testDescription: String { what }
    }

    static let badLines = [
        BadLine(what: "malformed", bytes: Array(#"{"topic":"board/1","at":"#.utf8), named: "JSON"),
        BadLine(
            what: "invalid UTF-8", bytes: Array(#"{"topic":"b"#.utf8) + [0xFF, 0xFE] + Array(#""}"#.utf8),
            named: "UTF-8"),
        BadLine(
            what: "over-long", bytes: Array(#"{"topic":""#.utf8) + Array(repeating: UInt8(ascii: "x"), count: 3 << 20),
            named: "1048576"),
        BadLine(
            what: "nested 10,000 deep",
            bytes: Array(#"{"topic":"b","at":1781359260,"set":{"a":"#.utf8)
                + Array(repeating: UInt8(ascii: "["), count: 10_000)
                + Array(repeating: UInt8(ascii: "]"), count: 10_000)
                + Array("}}".utf8), named: "deep"),
        BadLine(
            what: "milliseconds", bytes: Array(#"{"topic":"b","at":1781359260000,"set":{"a":1}}"#.utf8),
            named: "1970 to 2100"),
        BadLine(what: "no topic", bytes: Array(#"{"at":1781359260,"set":{"a":1}}"#.utf8), named: "topic"),
        BadLine(what: "a NUL", bytes: [0], named: "JSON"),
    ]

    /// After an incident, the same words with a wrong feed.
    @Test func aStartThatFailsLeavesTheOutputsOfTheRunBefore() throws {
        let folder = try Folder()
        let outputs = [try folder.write("d.ndjson", "decisions\n"), try folder.write("s.ndjson", "states\n")]
        let end = try Program.run(
            .fanfare, ["replay", folder("missing"), "--decisions", outputs[0], "--states", outputs[1]], folder: folder)
        #expect(end.status == 2)
        let contents = try outputs.map { try String(contentsOfFile: $0, encoding: .utf8) }
        #expect(contents == ["decisions\n", "states\n"])
    }

    /// The line comes from a file or from standard input.
    @Test(arguments: badLines, [false, true])
    func aBadLineIsRejectedAndTheRestGoesOn(bad: BadLine, isLive: Bool) throws {
        let folder = try Folder()
        let bytes = Array(Self.good[0].utf8) + bad.bytes + [10] + Array((Self.good[1] + Self.good[2]).utf8)
        let decisions = folder("decisions.ndjson")
        let file = try folder.write("feed.ndjson", bytes)
        let arguments = ["--decisions", decisions, "--json"]
        let end: Program.End
        if isLive {
            let fanfare = try Program(.fanfare, ["replay", "-"] + arguments, folder: folder, hasInput: true)
            try fanfare.write(bytes)
            try fanfare.closeInput()
            end = try fanfare.wait()
        } else {
            end = try Program.run(.fanfare, ["replay", file] + arguments, folder: folder)
        }
        #expect(end.status == 1)
        let summary = try Summary(end)
        #expect(summary.events == 4)
        #expect(summary.decisions["rejected"] == 1)
        let line = try #require(end.errorLines.first)
        #expect(end.errorLines.count == 1)
        #expect(line.contains("\(isLive ? "-" : file):2:"), "\(line)")
        #expect(line.contains(bad.named), "\(line)")
        #expect(line.utf8.count < 500)
        let log = try String(contentsOfFile: decisions, encoding: .utf8)
        #expect(log.split(separator: "\n").filter { $0.contains(#""outcome":"rejected""#) }.count == 1)
    }

    /// A loop's own descriptor must not become the input. The program is a process of its own, because in the test's process any thread
    /// could open a file that gets the free descriptor.
    @Test func aClosedInputIsAnEmptyFeed() throws {
        let folder = try Folder()
        let fanfare = try #require(Binary.fanfare.path)
        let command = #"exec "$0" replay - --json <&-"#
        let end = try Program(path: "/bin/sh", ["-c", command, fanfare], folder: folder).wait()
        #expect(end.status == 0 && end.errorLines.isEmpty, "\(end.errors)")
        #expect(try Summary(end).events == 0)
    }

    /// The first file opened would become the missing stream, and the log would contain that stream's output.
    @Test(arguments: ["2>&-", ">&-", "<&- >&- 2>&-"]) func aMissingStreamIsNoLog(closed: String) throws {
        let folder = try Folder()
        let feed = try folder.write("feed.ndjson", Self.good.joined() + "{broken}\n")
        let fanfare = try #require(Binary.fanfare.path)
        func log(_ name: String, _ words: String) throws -> String {
            let command = #"exec "$0" replay "$1" --decisions "$2" "# + words
            _ = try Program(path: "/bin/sh", ["-c", command, fanfare, feed, folder(name)], folder: folder).wait()
            return try String(contentsOfFile: folder(name), encoding: .utf8)
        }
        let whole = try log("whole", "")
        #expect(try !whole.isEmpty && log("alone", closed) == whole)
    }

    @Test func aFeedCutOffWithinALineIsSaid() throws {
        let folder = try Folder()
        let file = try folder.write("feed.ndjson", Self.good[0] + Self.good[1].dropLast(10))
        let end = try Program.run(.fanfare, ["replay", file, "--json"], folder: folder)
        #expect(end.status == 1)
        #expect(end.errorLines.count == 1)
        #expect(end.errors.contains("\(file):2:"), "\(end.errors)")
        #expect(try Summary(end).updates == 1)
    }

    /// A document is one file's whole content: it cannot be read without its end, and nothing is replayed.
    @Test(.enabled(if: Recordings.areThere, "\(Recordings.whyNot)"), arguments: [TestFeed.tenMatches, .dflMatch])
    func aTruncatedDocumentIsRefused(feed: TestFeed) throws {
        let folder = try Folder()
        let original = try #require(try feed.paths(in: folder).first)
        let name = (original as NSString).lastPathComponent
        let bytes = try Data(contentsOf: URL(fileURLWithPath: original))
        let file = try folder.write(name, bytes.prefix(bytes.count / 2))
        let end = try Program.run(
            .fanfare, ["replay", file, "--kickoff", "2018-05-13T14:00:00Z", "--json"], folder: folder)
        #expect(end.status != 0)
        #expect(end.errorLines.count == 1, "\(end.errors)")
        #expect(end.errors.contains(name), "\(end.errors)")
    }

    /// The file has a wrong format.
    @Test func tenThousandRejectedLinesAreTenAndANumber() throws {
        let folder = try Folder()
        let file = try folder.write("feed.ndjson", String(repeating: "{}\n", count: 10_000))
        let end = try Program.run(.fanfare, ["replay", file, "--format", "native", "--json"], folder: folder)
        #expect(end.status == 1)
        #expect(end.errorLines.count == 11, "\(end.errors.prefix(2000))")
        #expect(end.errorLines.last == "9990 more rejected; the decision log has all of them")
        #expect(try Summary(end).decisions["rejected"] == 10_000)
    }

    /// A name that operators are told of contains a line break, and a sequence that clears a terminal.
    @Test func wordsOfAFeedMoveNoCursorWhereOperatorsReadThem() throws {
        let folder = try Folder()
        let file = try folder.write(
            "feed.ndjson",
            #"{"topic":"match/1","topicKind":"football","at":1781359260,"kind":"fact","#
                + #""fact":{"id":"f","kind":"go\u001b[2J\nforged: line"}}"# + "\n")
        let end = try Program.run(.fanfare, ["replay", file, "--json"], folder: folder)
        #expect(end.errorLines.count == 2, "and that nothing was visible: \(end.errors)")
        #expect(end.errors.contains(#"`go\u{1B}[2J\nforged: line`"#), "\(end.errors)")
        #expect(!end.errors.unicodeScalars.contains("\u{1B}"))
    }

    /// The input is `<(zcat …)`: a second reading would find it empty, and a look at its head would consume that.
    @Test func aFeedThroughAPipeIsReadWholeOrRefused() throws {
        let folder = try Folder()
        let feed = try folder.write("feed.ndjson", Self.good.joined())
        func run(_ command: String) throws -> Program.End {
            let fanfare = try #require(Binary.fanfare.path)
            return try Program(path: "/bin/bash", ["-c", command, fanfare, feed], folder: folder).wait()
        }
        for command in [
            #""$0" replay <(cat "$1") --subscribers 10"#, #""$0" diff --rules built-in --rules built-in <(cat "$1")"#,
        ] {
            let end = try run(command)
            #expect(end.status == 2, "\(command)")
            #expect(end.errors.contains("can be read only once"), "\(end.errors)")
            #expect(end.errorLines.count == 1)
        }
        let end = try run(
            #"exec "$0" replay "$1" --json --subscribers <(seq -f 'board/1 %08.0f' 10000000 10020000)"#)
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.errors.contains(": 20,001 subscribers in "), "\(end.errors)")
        #expect(try Summary(end).pushes.accepted >= 20_001)
    }

    @Test func aTopicThatTheFeedNeverSpeaksOfIsNamed() throws {
        let folder = try Folder()
        let feed = try folder.write("feed.ndjson", Self.good.joined())
        let people = try folder.write("people", "bord/1 aa01\nboard/1 aa02\n")
        let end = try Program.run(.fanfare, ["replay", feed, "--subscribers", people, "--json"], folder: folder)
        #expect(
            end.errors.contains("1 activity follows topics that the feed does not speak of: bord/1\n"), "\(end.errors)")
    }

    @Test func aFeedInWhichNothingIsVisibleIsSaid() throws {
        let folder = try Folder()
        let line =
            #"{"topic":"match/1","topicKind":"football","at":1781359200,"kind":"gaol","fact":{"id":"g","side":"home"}}"#
        let feed = try folder.write("feed.ndjson", line + "\n")
        let end = try Program.run(.fanfare, ["replay", feed, "--json"], folder: folder)
        #expect(end.errors.contains("`gaol` (did you mean `goal`?)"), "\(end.errors)")
        #expect(end.errors.contains("nothing of the feed was visible"), "\(end.errors)")
    }

    /// A replay that cannot begin gives the usage line, and status 2.
    @Test func aReplayThatCannotBeginGivesItsUsage() throws {
        let folder = try Folder()
        let feed = try folder.write("feed.ndjson", Self.good.joined())
        let empty = try folder.write("empty.ndjson", "")
        let noise = try folder.write("noise.bin", (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 3) })
        let apns = [
            "--transport", "apns://127.0.0.1:9", "--key-id", "ABC123DEFG", "--team-id", "DEF123GHIJ", "--bundle-id",
            "b",
        ]
        let cases: [(arguments: [String], named: String)] = [
            (["replay", folder("missing.ndjson")], "missing.ndjson"),
            (["replay", noise], "noise.bin"),
            (["replay", empty], "empty.ndjson"),
            (["replay", feed, "--format", "telegraph"], "telegraph"),
            (["replay", feed, "--states", folder("no/such/folder")], "--states"),
            (["replay", feed] + apns + ["--key", folder("missing.p8")], "missing.p8"),
            (["replay", feed] + apns + ["--key", feed], "feed.ndjson"),
            (["replay", feed] + apns, "--key"),
            (["replay"], "feed"),
            (["replay", feed, "--spede", "3"], "--spede"),
            (["replay", feed, "--decisions", "\(folder.path)/./feed.ndjson"], "is read and written"),
            (["replay", feed, "--subscribers", empty, "--decisions", empty], "is read and written"),
            (["replay", feed, "--decisions", noise, "--states", noise], "is written twice"),
            (["generate", "thunder"], "thunder"),
            (["fly"], "fly"),
        ]
        for (arguments, named) in cases {
            let end = try Program.run(.fanfare, arguments, folder: folder)
            #expect(end.status == 2, "\(arguments): \(end.errors)")
            #expect(end.errorLines.count == 1, "\(arguments): \(end.errors)")
            #expect(end.errors.contains(named), "\(arguments): \(end.errors)")
            #expect(end.output.isEmpty, "\(arguments)")
        }
    }

    @Test func aCertificateNobodyVouchesForIsNamed() throws {
        let folder = try Folder()
        let simulator = try Simulator(folder: folder)
        var options = try simulator.options()
        let authority = try #require(options.firstIndex(of: "--ca"))
        options.removeSubrange(authority...authority + 1)
        try expectTrouble(options, naming: [simulator.address, "certificate"], in: folder)
    }

    @Test func aRefusedConnectionIsNamed() throws {
        let folder = try Folder()
        let simulator = try Simulator(folder: folder)
        let options = try simulator.options()
        _ = try simulator.dump()
        try expectTrouble(options, naming: [simulator.address, "refused"], in: folder)
    }

    /// Checks that trouble which prevents all deliveries is reported once, given up on, and counted.
    private func expectTrouble(_ options: [String], naming named: [String], in folder: Folder) throws {
        let feed = try folder.write("feed.ndjson", Self.good.joined())
        let end = try Program.run(
            .fanfare, ["replay", feed, "--subscribers", "2", "--patience", "2", "--json"] + options,
            folder: folder)
        #expect(end.status == 1)
        #expect(try Summary(end).undelivered == 2)
        for word in named {
            #expect(end.errorLines.filter { $0.contains(word) }.count == 1, "\(word): \(end.errors)")
        }
    }
}
