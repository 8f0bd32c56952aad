import Fanfare
import FanfareDecisions
import FanfareFeeds
import FanfareLog
import FanfareLoop
import FanfareModel
import FanfareRules
import FanfareTestSupport
import Foundation
import Testing

@testable import FanfareReplay

/// A replay whose process ends somewhere, and the next one that goes on with its log.
@Suite struct ReplayStoreTests {
    private static let kickOff: Int64 = 1_781_359_200

    /// Two matches with goals, held changes, timers, a broken line and an end; 60 lines.
    private static func feed() -> String {
        var lines: [String] = []
        for minute in 0..<30 {
            for match in 1...2 {
                let at = kickOff + Int64(60 * minute + match)
                let set = #"{"topic":"board/\#(match)","at":\#(at),"set":{"number":\#(minute)}"#
                lines.append(set + (minute == 29 ? #","kind":"end"}"# : "}"))
            }
            if minute == 7 { lines.append("{") }
            if minute == 9 {
                let at = kickOff + Int64(60 * minute + 3)
                lines.append(#"{"topic":"board/1","at":\#(at),"operator":"pause"}"#)
                lines.append(#"{"topic":"board/1","at":\#(at + 200),"operator":"resume"}"#)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private final class FeedFile {
        let path = NSTemporaryDirectory() + "fanfare-store-\(UUID()).ndjson"
        init(_ text: String) throws { try text.write(toFile: path, atomically: true, encoding: .utf8) }
        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private struct Result {
        var summary = ReplaySummary()
        var recalled: [UInt8] = []
        var decided: [UInt8] = []
        var states: [UInt8] = []
        var log: [UInt8] { recalled + decided }
    }

    private func replay(
        _ path: String, _ log: (any Log)?, rules: String = "", interruptedAfter decisionsMax: Int = .max,
        _ configure: (inout ReplayOptions) -> Void = { _ in }
    ) throws -> Result {
        var options = ReplayOptions(paths: [path])
        options.store = log.map { _ in StoreOptions(folder: "", rules: rules) }
        options.subscribers.count = 20
        options.keepsStates = true
        configure(&options)
        var result = Result()
        var (recalled, decided): ([UInt8], [UInt8]) = ([], [])
        var (decisions, interrupt) = (0, {})
        let output = ReplayOutput(
            decision: {
                decided += $0
                decisions += 1
                if decisions == decisionsMax { interrupt() }
            },
            recalledDecision: { recalled += $0 }, report: { _ in })
        let replay = try Replay(options, output: output, input: STDIN_FILENO, log: log)
        interrupt = replay.interrupt
        result.summary = replay.run()
        replay.writeStates { result.states += $0 }
        (result.recalled, result.decided) = (recalled, decided)
        return result
    }

    /// A log sends no alert again: whatever it has is decided and sent before an interrupted run ends.
    @Test(arguments: 1...12) func interruptedRunSendsWhatItsLogHas(lines: Int) throws {
        let file = try FeedFile(Self.feed())
        let undisturbed = try replay(file.path, nil)
        let log = MemoryLog()
        let first = try replay(file.path, log, interruptedAfter: 4 * lines) { $0.timetable.speed = .times(100_000) }
        #expect(first.summary.interrupted && first.summary.undelivered == 0)
        let second = try replay(file.path, log)
        #expect(second.recalled == first.decided, "everything that the log has was decided, and so sent")
        #expect(second.log == undisturbed.decided && second.states == undisturbed.states)
    }

    private func entries(of log: any Log) throws -> [LogEntry] {
        var entries: [LogEntry] = []
        try log.read(from: 1) { (_, entry) in
            entries.append(entry)
            return true
        }
        return entries
    }

    private func log(of entries: some Sequence<LogEntry>) -> MemoryLog {
        let log = MemoryLog()
        log.append(Array(entries))
        return log
    }

    @Test func aStoreChangesNoDecision() throws {
        let file = try FeedFile(Self.feed())
        let without = try replay(file.path, nil)
        let with = try replay(file.path, MemoryLog())
        #expect(!without.decided.isEmpty)
        #expect(with.decided == without.decided && with.recalled.isEmpty)
        #expect(with.states == without.states)
    }

    @Test func theSummaryHasTheCountsOfTheLog() throws {
        let file = try FeedFile(Self.feed())
        #expect(try replay(file.path, nil).summary.store == nil)
        let log = MemoryLog()
        let store = try #require(try replay(file.path, log).summary.store)
        #expect(store.newestEntry?.number == log.end && store.oldestEntry?.number == 1)
        #expect(store.entriesWaiting == 0 && store.log.trouble == nil && store.people == nil && store.claims == nil)
    }

    /// A crash leaves some first entries of the log. Wherever it falls, both runs together decide what an undisturbed one does.
    @Test(arguments: [ReplayTimetable.Speed.max, .times(1_000_000)])
    func aRunAfterACrashGoesOnByteForByte(speed: ReplayTimetable.Speed) throws {
        let file = try FeedFile(Self.feed())
        let undisturbed = try replay(file.path, nil)
        let whole = MemoryLog()
        _ = try replay(file.path, whole) { $0.timetable.speed = speed }
        let entries = try entries(of: whole)
        #expect(entries.count > 60)
        for cut in 0...entries.count {
            let log = log(of: entries.prefix(cut))
            let resumed = try replay(file.path, log) { $0.timetable.speed = speed }
            #expect(resumed.log == undisturbed.decided, "cut at \(cut)")
            #expect(resumed.states == undisturbed.states, "cut at \(cut)")
            #expect(resumed.summary.recall.entries == max(0, cut - 1))
            #expect(resumed.summary.undelivered == 0)
        }
    }

    /// A live feed's log is trimmed. The next replay decides again what came behind the checkpoint, and no more.
    @Test func aLiveFeedGoesOnFromACheckpoint() throws {
        let log = MemoryLog()
        func replay(_ lines: [String]) throws -> (skipped: UInt64, recalled: [String], decided: [String], counts: Int) {
            var options = ReplayOptions(paths: ["-"])
            var store = StoreOptions(folder: "", rules: "")
            store.checkpointInterval = 40
            options.store = store
            let clock = ManualClock()
            options.clock = clock.source
            var (skipped, recalled, decided): (UInt64, [String], [String]) = (0, [], [])
            var output = ReplayOutput(
                decision: { decided.append(String(decoding: $0, as: UTF8.self)) },
                recalledDecision: { recalled.append(String(decoding: $0, as: UTF8.self)) }, report: { _ in })
            output.skippedDecisions = { skipped = $0 }
            let input = Pipe()
            let replay = try Replay(
                options, output: output, input: dup(input.fileHandleForReading.fileDescriptor), log: log)
            input.fileHandleForWriting.write(Data(lines.map { $0 + "\n" }.joined().utf8))
            input.fileHandleForWriting.closeFile()
            let summary = replay.run()
            return (skipped, recalled, decided, summary.recall.rejections)
        }
        var decided: [String] = []
        for run in 0..<6 {
            let lines = (0..<60).map {
                $0 == 30
                    ? "{"
                    : #"{"topic":"board/\#($0 % 7)","id":"\#(run)/\#($0)","at":\#(Self.kickOff),"set":{"a":\#(run)}}"#
            }
            let result = try replay(lines)
            #expect(Int(result.skipped) + result.recalled.count == decided.count, "run \(run)")
            #expect(result.recalled == Array(decided[Int(result.skipped)...]), "run \(run)")
            #expect(result.counts == run, "rejections of earlier runs")
            if run > 1 { #expect(result.skipped > 0) }
            decided += result.decided
        }
        // Beside a slow disk a run may end before its last checkpoints are whole, or before it hears that they are; the next one trims then.
        #expect(log.start > 60)
    }

    /// Log that notes at each append how many decisions had been made until then.
    ///
    /// `Sendable` is unchecked: the writer's thread alone uses it until the replay has ended.
    private final class WatchedLog: Log, @unchecked Sendable {
        let memory = MemoryLog()
        let decisions = Locked(0)
        private(set) var seen: [(durable: LogPosition, decisions: Int)] = []
        var end: LogPosition { memory.end }
        var start: LogPosition { memory.start }
        var checkpoints: any CheckpointStore { memory.checkpoints }
        func trim(through position: LogPosition) { memory.trim(through: position) }
        func checksum(at position: LogPosition) -> UInt32? { memory.checksum(at: position) }

        func append(_ entries: [LogEntry]) {
            seen.append((end, decisions.withLock { $0 }))
            memory.append(entries)
        }

        func read(
            from position: LogPosition, _ body: (LogPosition, LogEntry) throws(LogError) -> Bool
        ) throws(LogError) { try memory.read(from: position, body) }
    }

    /// Without timers each event is one decision, and the first entry are the rules.
    @Test func nothingIsDecidedBeforeItIsDurable() throws {
        let lines = (0..<2000).map { #"{"topic":"board/\#($0)","at":\#(Self.kickOff),"set":{"a":1}}"# }
        let file = try FeedFile(lines.joined(separator: "\n"))
        let log = WatchedLog()
        var options = ReplayOptions(paths: [file.path])
        options.store = StoreOptions(folder: "", rules: "")
        let output = ReplayOutput(decision: { _ in log.decisions.withLock { $0 += 1 } }, report: { _ in })
        _ = try Replay(options, output: output, input: STDIN_FILENO, log: log).run()
        #expect(log.end == 2002 && log.seen.count > 4)
        #expect(log.seen.dropFirst().allSatisfy { $0.decisions == Int($0.durable) - 1 }, "\(log.seen)")
    }

    /// A state decided before the crash reaches everybody as it is now, and alerts nobody again.
    @Test func everybodyGetsTheNewestStateOnceAndSilently() throws {
        // The first event alerts nobody: how many of its pushes leave before the goal depends on the machine, how many alerts do not.
        let goal =
            #"{"topic":"match/1","topicKind":"football","at":\#(Self.kickOff),"set":{"venue":"Park"}}"# + "\n"
            + #"{"topic":"match/1","at":\#(Self.kickOff + 60),"fact":{"id":"g","kind":"goal","side":"home"}}"# + "\n"
        let file = try FeedFile(goal)
        let log = MemoryLog()
        let first = try replay(file.path, log)
        #expect(first.summary.counts.alerts.accepted == 20)
        let second = try replay(file.path, log)
        #expect(second.summary.counts.pushes.accepted == 20)
        #expect(second.summary.counts.alerts.accepted == 0)
        #expect(second.summary.events == 0 && second.decided.isEmpty)
    }

    /// Feed of notices, which make no entries, with one event behind them.
    private struct NoticingFeed: ReplaySource {
        let event: FeedEvent
        var noticesLeft: Int
        var isAtEnd = false
        var onItems: () -> Void = {}
        var wall: FeedTime? { nil }

        func peek() -> (now: FeedTime, item: FeedItem)? {
            if isAtEnd { return nil }
            return (event.at, noticesLeft > 0 ? .noticed(FeedNotice(location: "feed", text: "odd")) : .event(event))
        }
        mutating func advance() {
            isAtEnd = noticesLeft == 0
            noticesLeft -= 1
        }
        func start() {}
        func stop() {}
        func close() {}
        func clockTime() -> FeedTime? { nil }
        func continueLogTime(from latest: FeedTime) {}
    }

    /// A step that met nothing but notices is followed by another one.
    @Test(.timeLimit(.minutes(10))) func aFeedMayBeginWithMoreNoticesThanAStepTakes() throws {
        let file = try FeedFile(Self.feed())
        var options = ReplayOptions(paths: [file.path])
        options.store = StoreOptions(folder: "", rules: "")
        let event = FeedEvent(
            topic: TopicID("board/1"), at: FeedTime(seconds: Self.kickOff), kind: "x", change: .patch(["a": .int(1)]))
        let replay = try Replay(
            options, output: ReplayOutput(report: { _ in }), input: STDIN_FILENO, log: MemoryLog(),
            feed: NoticingFeed(event: event, noticesLeft: 1500))
        #expect(replay.run().events == 1)
    }

    /// A run that goes on after a rejection has not taken the whole feed either.
    @Test func aResumedRunIsNotCleanAfterAnEarlierRejection() throws {
        let file = try FeedFile(Self.feed())
        let log = MemoryLog()
        let first = try replay(file.path, log)
        let second = try replay(file.path, log)
        #expect(first.summary.recall.rejections == 0 && !first.summary.isClean)
        #expect(second.summary.decisions.outcomes[.rejected] == nil)
        #expect(second.summary.recall.rejections == 1 && !second.summary.isClean)
    }

    @Test func anotherFeedIsRefusedWithItsPlace() throws {
        let log = MemoryLog()
        let file = try FeedFile(Self.feed())
        _ = try replay(file.path, log)
        let other = try FeedFile(Self.feed().replacingOccurrences(of: #""number":5"#, with: #""number":6"#))
        let error = #expect(throws: ReplayError.self) { try replay(other.path, log) }
        #expect(error?.description.hasPrefix("item 11 of the feed is not the one") == true, "\(error.debugDescription)")
        let shorter = try FeedFile(Self.feed().split(separator: "\n").prefix(3).joined(separator: "\n"))
        #expect(throws: ReplayError.self) { try replay(shorter.path, log) }
    }

    /// A replay sends what it decides without claims, so the next engine must not trust those of the engine before. A replay that is refused has
    /// sent nothing: the next engine still knows its starts, and who has which version.
    @Test(arguments: ["", "feed", "key", "output"]) func onlyAReplayThatBeginsEndsTheClaims(
        refusedFor reason: String
    ) throws {
        let folder = try TemporaryFolder.made()
        let file = try FeedFile(Self.feed())
        _ = try replay(file.path, LMDBLog(folder: folder.path))
        let start = FeedTime(seconds: Self.kickOff)
        let head = CompletionHead(position: 9, now: start)
        do {
            let claims = try ClaimFolder(store: folder.path)
            try claims.begin(at: start)
            var changes = CompletionChanges()
            let completion = StoredCompletion(
                topic: TopicID("board/1"), app: nil, birth: 3, version: 1, displayHash: 7, before: start, serials: 0)
            changes.note(completion, at: CompletionKey(birth: 3, app: 0), head)
            try claims.append([], changes)
            claims.close()
        }
        let other = try FeedFile(Self.feed().replacingOccurrences(of: #""number":5"#, with: #""number":6"#))
        var options = ReplayOptions(paths: [reason == "feed" ? other.path : file.path])
        options.store = StoreOptions(folder: folder.path, rules: "")
        if reason == "key" {
            options.transport = .apns(
                APNsOptions(
                    host: "localhost", port: 1, keyFile: "/nonexistent/key.p8", keyID: "ABCDEFGHIJ",
                    teamID: "ABCDEFGHIJ", bundleID: "com.example.app"))
        }
        do {
            let replay = try Replay(options, output: ReplayOutput(report: { _ in }), input: STDIN_FILENO)
            // An output that cannot be written refuses a replay that there is already.
            if reason != "output" { try replay.takeOverStore() }
            _ = replay.run()
            #expect(reason.isEmpty || reason == "output")
        } catch {
            let words = ["feed": "item 11 of the feed", "key": "/nonexistent/key.p8"]
            #expect(words[reason].map { "\(error)".contains($0) } == true, "\(error)")
        }
        let claims = try ClaimFolder(store: folder.path)
        let found = try claims.readCompletions { _, _ in }
        #expect(claims.start == (reason.isEmpty ? nil : start))
        #expect(found == (reason.isEmpty ? nil : head))
        claims.close()
    }

    /// The entry's item is not compared, its topic is paused from there on until it ends, and each later run decides the same.
    @Test func anEntryThatIsSetAsidePausesItsTopic() throws {
        let folder = NSTemporaryDirectory() + "fanfare-store-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = try FeedFile(Self.feed())
        let first = try replay(file.path, LMDBLog(folder: folder)) {
            $0.timetable.until = FeedTime(seconds: Self.kickOff + 600)
        }
        let position = try #require(
            try entries(of: LMDBLog(folder: folder, isReadOnly: true)).firstIndex { entry in
                guard case .event(let event, _) = entry.body else { return false }
                return event.topic == TopicID("board/2") && event.change == .patch(["number": 3])
            })
        _ = try LMDBLog.skip(LogPosition(position + 1), in: folder)
        let second = try replay(file.path, LMDBLog(folder: folder))
        #expect(second.summary.recall.entries > 0 && second.recalled != first.decided)
        func records(of topic: String, _ words: String) -> Int {
            String(decoding: second.log, as: UTF8.self).split(separator: "\n").count {
                $0.contains(#""topic":"\#(topic)""#) && $0.contains(words)
            }
        }
        #expect(records(of: "board/2", "pause by an operator") == 1)
        // The numbers 0, 1 and 2, and the end, which a pause does not hold back.
        #expect(records(of: "board/2", #""outcome":"published""#) == 4)
        #expect(records(of: "board/1", #""outcome":"published""#) > 20)
        let third = try replay(file.path, LMDBLog(folder: folder))
        #expect(third.recalled == second.log && third.decided.isEmpty)
        #expect(third.states == second.states)
    }

    /// Returns the error of a replay of files over the log, to which it appends nothing.
    private func refusal(by log: MemoryLog) throws -> ReplayError? {
        let file = try FeedFile(Self.feed())
        let end = log.end
        let error = #expect(throws: ReplayError.self) { try replay(file.path, log) }
        #expect(log.end == end)
        return error
    }

    /// A planned stop leaves no entry behind its checkpoint, so none would tell whose store it is.
    @Test(.timeLimit(.minutes(10))) func aStoreIsNotForFilesAfterAPlannedStopEither() async throws {
        let log = MemoryLog()
        let store = StoreChoice.parts(log: log, people: MemoryPeopleStore(), claims: MemoryClaims())
        let engine = try await Engine.launch(Engine.Options(transport: .discard, store: store))
        let event = FeedEvent(
            topic: TopicID("board/1"), at: FeedTime(seconds: Self.kickOff), kind: "x", change: .patch(["a": .int(1)]))
        let receipt = try await engine.ingest(event)
        _ = await engine.shutdown(within: .seconds(300))
        let checkpoint = try log.checkpoints.positions().first
        let (covered, entry) = (try #require(checkpoint), try #require(receipt.entry).number)
        #expect(covered >= entry)
        #expect(try refusal(by: log)?.description.contains("or by a program") == true)
    }

    @Test func aLiveFeedsStoreIsNotForFiles() throws {
        let rules = LogEntry(
            now: FeedTime.plausible.lowerBound, .rules("", decisionVersion: UInt64(DecisionCore.version)))
        let event = FeedEvent(
            topic: TopicID("board/1"), at: FeedTime(seconds: Self.kickOff), kind: "x", change: .nothing)
        let log = log(of: [rules, LogEntry(now: event.at, .event(event, wall: nil))])
        #expect(try refusal(by: log)?.description.contains("standard input") == true)
    }

    /// Rules that differ from those of the run before hold from the log's end on, and each later run decides the same by the same positions.
    @Test func otherRulesHoldFromTheEndOfTheLog() throws {
        let file = try FeedFile(Self.feed())
        var slow = Rules.builtIn
        slow.other.pace.minimumInterval = .seconds(200)
        func replay(_ log: any Log, _ rules: Rules, minutes: Int64? = nil) throws -> Result {
            try self.replay(file.path, log, rules: rules.toml) {
                $0.rules = rules
                $0.timetable.until = minutes.map { FeedTime(seconds: Self.kickOff + 60 * $0) }
            }
        }
        let log = MemoryLog()
        let first = try replay(log, .builtIn, minutes: 12)
        let stopped = log.end
        let second = try replay(log, slow)
        #expect(second.recalled == first.decided && second.summary.recall.entries == Int(stopped) - 1)
        func versions(_ log: [UInt8]) -> Int {
            String(decoding: log, as: UTF8.self).split(separator: "\n").count { $0.contains("\"published\"") }
        }
        let unchanged = try replay(MemoryLog(), .builtIn)
        #expect(2 * versions(second.decided) < versions(unchanged.decided) - versions(first.decided))
        let whole = try entries(of: log)
        guard case .rules(slow.toml, _) = whole[Int(stopped)].body else {
            return #expect(Bool(false), "the entry behind the first run has the new rules: \(whole[Int(stopped)])")
        }
        // Wherever the second run is killed, the next one goes on byte for byte.
        for cut in stride(from: Int(stopped) + 1, through: whole.count, by: 7) {
            let resumed = try replay(self.log(of: whole.prefix(cut)), slow)
            #expect(resumed.log == second.log, "cut at \(cut)")
            #expect(resumed.states == second.states, "cut at \(cut)")
        }
        // Back to the first rules, and everything again.
        let third = try replay(log, .builtIn)
        #expect(third.recalled == second.log)
        let fourth = try replay(log, .builtIn)
        #expect(fourth.recalled == third.log && fourth.states == third.states)
        #expect(try entries(of: log).count { if case .rules = $0.body { true } else { false } } == 3)
    }

    @Test func rulesThatCannotBeReadAreNamed() throws {
        let file = try FeedFile(Self.feed())
        let log = log(of: [
            LogEntry(
                now: FeedTime.plausible.lowerBound, .rules("[football", decisionVersion: UInt64(DecisionCore.version)))
        ])
        let error = #expect(throws: ReplayError.self) { try replay(file.path, log) }
        #expect(error?.description.contains("entry 1 of the store has rules") == true, "\(error.debugDescription)")
    }

    /// A log that another release has written is decided again by this one, and says from where on.
    @Test func anotherDecisionVersionDecidesAgainAndGoesOn() throws {
        let file = try FeedFile(Self.feed())
        let written = MemoryLog()
        let first = try replay(file.path, written) { $0.timetable.until = FeedTime(seconds: Self.kickOff + 60 * 12) }
        let version = UInt64(DecisionCore.version)
        let log = self.log(
            of: try entries(of: written).map { entry in
                guard case .rules(let text, _) = entry.body else { return entry }
                return LogEntry(now: entry.now, .rules(text, decisionVersion: version + 1))
            })
        let second = try replay(file.path, log)
        #expect(second.recalled == first.decided)
        #expect(second.states == (try replay(file.path, MemoryLog())).states)
        let versions = try entries(of: log).compactMap { entry -> UInt64? in
            guard case .rules(_, let version) = entry.body else { return nil }
            return version
        }
        #expect(versions == [version + 1, version])
        let third = try replay(file.path, log)
        #expect(third.recalled == second.log && third.states == second.states)
    }
}
