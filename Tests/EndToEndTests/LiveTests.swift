import Foundation
import Testing

/// `replay -` and Ctrl-C: what happens while somebody watches.
@Suite(.enabled(if: Binary.areThere, "\(Binary.whyNot)"), .timeLimit(.minutes(5)))
struct LiveTests {
    private static let score = (1...5).map { number in
        #"{"topic":"board/1","at":\#(1_781_359_200 + 60 * number),"set":{"score":\#(number)}}"# + "\n"
    }

    /// nghttpd (Debian's nghttp2-server) is a server we did not write, and with `-v` it tells of a request when it arrives.
    @Test(.enabled(if: Nghttpd.isThere, "nghttpd is missing: apt install nghttp2-server"))
    func aLineIsDecidedAndPushedBeforeTheNextIsWritten() throws {
        let folder = try Folder()
        let server = try Nghttpd(folder: folder)
        let fanfare = try Program(
            .fanfare, ["replay", "-", "--decisions", "-", "--subscribers", "3"] + server.options(), folder: folder,
            hasInput: true)
        for (number, line) in Self.score.enumerated() {
            try fanfare.write(line)
            try fanfare.waitUntil("decision \(number + 1)") { output, _ in
                output.count { $0 == "\n" } == number + 1 && output.contains(#""version":\#(number + 1),"#)
            }
            try server.program.waitUntil("push \(number + 1)") { output, _ in
                output.components(separatedBy: ":path: /3/device/").count - 1 == 3 * (number + 1)
            }
        }
        try fanfare.closeInput()
        let end = try fanfare.wait()
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.errors.contains("15 sent: 15 accepted"))
    }

    /// A goal waits a second for others, and no line comes after which it could be shown.
    @Test func aPreviewGoesOnWhileTheFeedIsSilent() throws {
        let folder = try Folder()
        let fanfare = try Program(
            .fanfare, ["replay", "-", "--preview", "match/1,match/2"], folder: folder, hasInput: true)
        for match in 1...2 {
            try fanfare.write(
                #"{"topic":"match/\#(match)","topicKind":"football","at":1781359260,"id":"k","kind":"period","#
                    + #""fact":{"id":"k","kind":"period","period":"1H"}}"# + "\n")
        }
        try fanfare.write(
            #"{"topic":"match/1","at":1781359270,"id":"g","kind":"goal","fact":{"id":"g","side":"home"}}"# + "\n")
        try fanfare.waitUntil("the goal") { _, errors in errors.contains("Goal! ") }
        try fanfare.closeInput()
        #expect(try fanfare.wait().status == 0)
    }

    /// What people type at a terminal ends without a newline now and then.
    @Test func theLastLineNeedsNoNewline() throws {
        let folder = try Folder()
        let fanfare = try Program(.fanfare, ["replay", "-", "--json"], folder: folder, hasInput: true)
        try fanfare.write(String(Self.score[0].dropLast()))
        try fanfare.closeInput()
        let end = try fanfare.wait()
        #expect(end.status == 0, "\(end.errors)")
        #expect(try Summary(end).updates == 1)
    }

    /// Between two lines, at the speed of life, and at full speed while a reader is slow.
    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsWithTheSummarySoFar(signal: Int32) throws {
        let folder = try Folder()
        let decisions = folder("decisions.ndjson")
        let fanfare = try Program(
            .fanfare,
            ["replay"] + TestFeed.matchDay.paths(in: folder)
                + ["--speed", "60", "--subscribers", "100", "--decisions", decisions, "--json"], folder: folder)
        try fanfare.waitUntil("the first decision") { _, _ in
            (try? String(contentsOfFile: decisions, encoding: .utf8))?.contains("published") == true
        }
        fanfare.send(signal)
        let end = try fanfare.wait(within: 10)
        #expect(end.status == 1, "\(end.errors)")
        let summary = try Summary(end)
        #expect(summary.interrupted)
        #expect((1..<16_000).contains(summary.events))
    }

    @Test func aSignalEndsALiveFeedToo() throws {
        let folder = try Folder()
        let fanfare = try Program(.fanfare, ["replay", "-", "--decisions", "-"], folder: folder, hasInput: true)
        try fanfare.write(Self.score[0])
        try fanfare.waitUntil("the decision") { output, _ in output.contains("published") }
        fanfare.send(SIGINT)
        let end = try fanfare.wait(within: 10)
        #expect(end.status == 1)
        #expect(end.errors.hasPrefix("stopped before the end; so far:\nevents in    1\n"))
    }

    /// `fanfare replay … --decisions - | head`: the reader leaves, and so do we, at once and with one line.
    @Test func aFullDiskStopsTheReplay() throws {
        let folder = try Folder()
        let end = try Program.run(
            .fanfare, ["replay"] + TestFeed.matchDay.paths(in: folder) + ["--decisions", "/dev/full", "--json"],
            folder: folder)
        #expect(end.status == 1)
        #expect(end.errors == "fanfare replay: /dev/full: cannot be written: No space left on device\n")
        #expect(try Summary(end).events < 16_000)
    }
}
