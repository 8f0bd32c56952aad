import Foundation
import Glibc
import Testing

/// `replay -` and Ctrl-C, in live use.
@Suite(.enabled(if: Binary.areThere, "\(Binary.whyNot)"), .timeLimit(.minutes(5)))
struct LiveTests {
    private static let score = (1...5).map { number in
        #"{"topic":"board/1","at":\#(1_781_359_200 + 60 * number),"set":{"score":\#(number)}}"# + "\n"
    }

    /// nghttpd (Debian's nghttp2-server) is a server that we did not write; with `-v` it prints each request on arrival.
    @Test(.enabled(if: Nghttpd.isThere, "nghttpd is missing: apt install nghttp2-server"))
    func aLineIsDecidedAndPushedBeforeTheNextIsWritten() throws {
        let folder = try Folder()
        let server = try Nghttpd(folder: folder)
        let fanfare = try Program(
            .fanfare, ["replay", "-", "--decisions", "-", "--subscribers", "3"] + server.options(), folder: folder,
            hasInput: true)
        // The events have different topics: a second state of one topic would wait two seconds for a third.
        for number in 0..<5 {
            let topic = #""topic":"board/\#(number)""#
            try fanfare.write(#"{\#(topic),"at":1781359200,"set":{"score":1}}"# + "\n")
            try fanfare.waitUntil("decision \(number + 1)") { output, _ in
                output.count { $0 == "\n" } == number + 1 && output.contains(topic)
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

    /// A goal waits a second for others, and no later line triggers its display.
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

    /// Input typed at a terminal sometimes ends without a newline.
    @Test func theLastLineNeedsNoNewline() throws {
        let folder = try Folder()
        let fanfare = try Program(.fanfare, ["replay", "-", "--json"], folder: folder, hasInput: true)
        try fanfare.write(String(Self.score[0].dropLast()))
        try fanfare.closeInput()
        let end = try fanfare.wait()
        #expect(end.status == 0, "\(end.errors)")
        #expect(try Summary(end).updates == 1)
    }

    /// The signal comes between two lines, at real speed, and at full speed while a reader is slow.
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
        let end = try fanfare.wait()
        #expect(end.status == 1, "\(end.errors)")
        let summary = try Summary(end)
        #expect(summary.interrupted)
        #expect((1..<16_000).contains(summary.events))
    }

    /// APNs answers after a minute. A recorded feed can be read again, so the replay waits for no answer.
    @Test func signalEndsARecordedReplayWhilePushesAreUnanswered() throws {
        let folder = try Folder()
        let simulator = try Simulator(["--latency", "60000"], folder: folder)
        defer { _ = try? simulator.dump() }
        let decisions = folder("decisions.ndjson")
        let fanfare = try Program(
            .fanfare,
            ["replay"] + TestFeed.matchDay.paths(in: folder)
                + ["--speed", "60", "--subscribers", "100", "--decisions", decisions, "--json"]
                + simulator.options(), folder: folder)
        try fanfare.waitUntil("the first decision") { _, _ in
            (try? String(contentsOfFile: decisions, encoding: .utf8))?.contains("published") == true
        }
        let signalled = ContinuousClock.now
        fanfare.send(SIGINT)
        let end = try fanfare.wait()
        #expect(
            ContinuousClock.now - signalled < .seconds(8), "an unanswered push is awaited for ten seconds elsewhere")
        #expect(end.status == 1, "\(end.errors)")
        #expect(try Summary(end).interrupted)
    }

    @Test func aSignalEndsALiveReplay() throws {
        let folder = try Folder()
        let fanfare = try Program(.fanfare, ["replay", "-", "--decisions", "-"], folder: folder, hasInput: true)
        try fanfare.write(Self.score[0])
        try fanfare.waitUntil("the decision") { output, _ in output.contains("published") }
        fanfare.send(SIGINT)
        let end = try fanfare.wait()
        #expect(end.status == 1)
        #expect(end.errors.hasPrefix("stopped before the end; so far:\nevents in    1\n"))
    }

    /// APNs is absent, or refuses us, for longer than any patience: a live feed's followers are served when it returns.
    @Test func aLiveReplayOutlastsAnAbsentService() throws {
        let folder = try Folder()
        let gone = try Simulator(folder: folder)
        let options = try gone.options()
        _ = try gone.dump()
        let fanfare = try Program(
            .fanfare, ["replay", "-", "--subscribers", "3", "--patience", "0", "--json"] + options, folder: folder,
            hasInput: true)
        try fanfare.write(Self.score[0])
        try fanfare.waitUntil("the trouble") { _, errors in errors.contains("refused") }
        // The new simulator listens on the same port.
        let back = try Simulator(["--listen", gone.address], folder: folder)
        defer { _ = try? back.dump() }
        try fanfare.waitUntil("three pushes, in a line of progress") { _, errors in errors.contains("  3 pushes") }
        try fanfare.closeInput()
        let end = try fanfare.wait()
        #expect(end.status == 0, "\(end.errors)")
        #expect(try Summary(end).undelivered == 0)
    }

    /// APNs does not know our key. The right key replaces it, and a live feed's followers get the updates of the meantime.
    @Test func aLiveReplayTakesUpAKeyThatIsMended() throws {
        let folder = try Folder()
        let simulator = try Simulator(folder: folder)
        let options = try simulator.options()
        let right = try #require(options.firstIndex(of: "--key").map { options[$0 + 1] })
        let wrong = try Certificates.make()
        let key = folder("key.p8")
        try FileManager.default.copyItem(atPath: wrong("apns.p8"), toPath: key)
        let fanfare = try Program(
            .fanfare,
            ["replay", "-", "--subscribers", "3", "--patience", "600", "--json"]
                + options.map { $0 == right ? key : $0 },
            folder: folder, hasInput: true)
        try fanfare.write(LiveMatch.kickOff)
        try fanfare.waitUntil("the trouble") { _, errors in errors.contains("InvalidProviderToken") }
        try fanfare.write(LiveMatch.goal(1))
        try fanfare.waitUntil("the goal's being decided") { _, errors in errors.contains("  2 updates  ") }
        try FileManager.default.removeItem(atPath: key)
        try FileManager.default.copyItem(atPath: right, toPath: key)
        try fanfare.closeInput()
        // The key file is checked every few seconds.
        let end = try fanfare.wait(within: 240)
        #expect(end.status == 0, "\(end.errors)")
        let summary = try Summary(end)
        #expect(summary.undelivered == 0 && summary.pushes.accepted == 3)
        let dump = try Dump(simulator.dump())
        #expect(dump.arrivals { $0["homeScore"] as? Int == 1 }.count == 3)
    }

    /// A full disk under the decision log ends a replay without subscribers at once, with one line.
    @Test func aFullDiskStopsAReplayWithNobodyToPushTo() throws {
        let folder = try Folder()
        let end = try Program.run(
            .fanfare, ["replay"] + TestFeed.matchDay.paths(in: folder) + ["--decisions", "/dev/full", "--json"],
            folder: folder)
        #expect(end.status == 1)
        #expect(end.errors == "fanfare replay: /dev/full: cannot be written: No space left on device\n")
        #expect(try Summary(end).events < 16_000)
    }

    @Test func aFullDiskUnderTheDecisionLogStopsNoPush() throws {
        let folder = try Folder()
        let end = try Program.run(
            .fanfare,
            ["replay"] + TestFeed.matchDay.paths(in: folder)
                + ["--decisions", "/dev/full", "--subscribers", "10", "--json"], folder: folder)
        #expect(end.status == 1)
        #expect(end.errors.contains("No space left on device; pushing goes on without a decision log\n"))
        let summary = try Summary(end)
        #expect(summary.events > 16_000 && summary.undelivered == 0 && !summary.interrupted)
    }

    /// Neither output is read, as with `| less` left alone, Ctrl-S, or a journal that hangs.
    @Test(.enabled(if: Nghttpd.isThere, "nghttpd is missing: apt install nghttp2-server"))
    func aReaderThatIgnoresALiveLogHoldsUpNoPush() throws {
        let folder = try Folder()
        let server = try Nghttpd(folder: folder)
        let unread = try UnreadOutput(folder: folder)
        let fanfare = try unread.fanfare(
            ["replay", "-", "--decisions", "-", "--subscribers", "3"] + server.options(), hasInput: true)
        let lines = (0..<2000).map {
            #"{"topic":"board/1","at":\#(1_781_359_200 + $0),"set":{"minute":\#($0)}}"# + "\n"
        }
        try fanfare.write(lines.joined() + "{broken}\n")
        let goal =
            #"{"topic":"match/1","topicKind":"football","at":1781359270,"id":"g","kind":"goal","#
            + #""fact":{"id":"g","side":"home"}}"# + "\n"
        try fanfare.write(goal)
        try server.program.waitUntil("three phones have both") { output, _ in
            output.components(separatedBy: ":path: /3/device/").count - 1 >= 6
        }
        fanfare.send(SIGTERM)
        #expect(try fanfare.wait().status == 1)
    }

    /// A recorded feed waits for the reader of its log, and can be stopped meanwhile.
    @Test func aSignalEndsAReplayWhoseLogNobodyReads() throws {
        let folder = try Folder()
        let unread = try UnreadOutput(folder: folder)
        let states = folder("states")
        let feed = try TestFeed.matchDay.paths(in: folder)
        let fanfare = try unread.fanfare(["replay"] + feed + ["--decisions", "-", "--states", states])
        // Handlers are set once the loop runs; an earlier signal ends the process, too.
        try unread.waitUntilWrittenTo()
        fanfare.send(SIGINT)
        #expect(try fanfare.wait().status == 1)
    }

    /// A logout ends a replay that was started by hand, but not one that reads a pipe.
    @Test func aLiveFeedOutlivesTheTerminalItWasStartedFrom() throws {
        let folder = try Folder()
        let fanfare = try Program(.fanfare, ["replay", "-", "--decisions", "-"], folder: folder, hasInput: true)
        try fanfare.write(Self.score[0])
        try fanfare.waitUntil("the first decision") { output, _ in output.contains(#""version":1,"#) }
        fanfare.send(SIGHUP)
        try fanfare.write(Self.score[1])
        try fanfare.waitUntil("the second decision") { output, _ in output.contains(#""version":2,"#) }
        try fanfare.closeInput()
        #expect(try fanfare.wait().status == 0)
    }

    @Test(arguments: [["version"], ["help"], ["rules", "show"], ["explain", "FEED", "--topic", "board/1"]])
    func aFullStandardOutputIsAFailure(words: [String]) throws {
        let folder = try Folder()
        let fanfare = try #require(Binary.fanfare.path)
        let feed = try folder.write("feed.ndjson", Self.score.joined())
        let end = try Program(
            path: "/bin/sh",
            ["-c", #"exec "$0" "$@" >/dev/full"#, fanfare] + words.map { $0 == "FEED" ? feed : $0 }, folder: folder
        )
        .wait()
        #expect(end.status == 1)
        #expect(end.errors.hasSuffix(": standard output: cannot be written: No space left on device\n"))
    }

    @Test func aSummaryThatCannotBeWrittenIsAFailure() throws {
        let folder = try Folder()
        let fanfare = try #require(Binary.fanfare.path)
        let feed = try folder.write("feed.ndjson", Self.score.joined())
        let end = try Program(
            path: "/bin/sh", ["-c", #"exec "$0" replay "$1" >/dev/full"#, fanfare, feed], folder: folder
        )
        .wait()
        #expect(end.status == 1)
        #expect(end.errors == "fanfare replay: standard output: cannot be written: No space left on device\n")
    }
}

/// A pipe that is full from the start and never read, as the program's standard output and standard error.
private final class UnreadOutput {
    private let folder: Folder
    private let path: String
    private let descriptor: CInt

    init(folder: Folder) throws {
        self.folder = folder
        path = folder("unread")
        try #require(mkfifo(path, 0o600) == 0)
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        try #require(descriptor >= 0)
        let page = [UInt8](repeating: 0, count: 4096)
        while write(descriptor, page, page.count) > 0 {}
    }

    deinit { close(descriptor) }

    func fanfare(_ arguments: [String], hasInput: Bool = false) throws -> Program {
        let fanfare = try #require(Binary.fanfare.path)
        return try Program(
            path: "/bin/sh", ["-c", #"f=$1; shift; exec "$0" "$@" >"$f" 2>"$f""#, fanfare, path] + arguments,
            folder: folder, hasInput: hasInput)
    }

    /// Reads one page, and waits until the program has written into its place.
    func waitUntilWrittenTo() throws {
        var page = [UInt8](repeating: 0, count: 4096)
        try #require(read(descriptor, &page, page.count) == page.count)
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let deadline = ContinuousClock.now + .seconds(120)
        while poll(&ready, 1, 0) > 0 {
            guard ContinuousClock.now < deadline else { throw Failure("nothing was written within two minutes") }
            // A reader gets no notice that a pipe is full again.
            usleep(5000)
        }
    }
}
