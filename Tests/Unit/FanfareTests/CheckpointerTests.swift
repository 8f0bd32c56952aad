import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareQueues
import FanfareTestSupport
import Foundation
import Testing

@testable import Fanfare

/// When checkpoints are begun, what of them a turn writes, and engines that follow one another on a log that is trimmed.
@Suite struct CheckpointerTests {
    /// Disk that writes when the test says so.
    private final class Sink: CheckpointSink {
        let store: any CheckpointStore
        var isFull = false
        var told: [String] = []
        init(_ store: any CheckpointStore) { self.store = store }

        func begin(_ head: CheckpointHead) {
            told.append("begin \(head.position)")
            try? store.begin(head)
        }
        func append(_ rows: [[UInt8]]) { try? store.append(rows) }
        func finish() { told.append("finish") }
        func abandon() {
            told.append("abandon")
            store.abandon()
        }
    }

    /// Rules that the first recall has given the log.
    private static func rules(of log: MemoryLog) throws -> LogRules {
        var rules: LogRules?
        try log.read(from: 1) { (_, entry) in
            if case .rules(let text, let version) = entry.body {
                rules = LogRules(text: text, decisionVersion: version)
            }
            return false
        }
        return try #require(rules)
    }

    private static func core(apps: [AppID] = []) -> (core: EngineCore, rings: [ShardRings]) {
        let rings = (0..<max(1, apps.count)).map { _ in ShardRings() }
        return (EngineCore(shards: rings.map { ShardLink($0) {} }, perApp: 1, apps: apps, isLive: true), rings)
    }

    private static func event(_ number: Int, topics: Int = 50) -> FeedEvent {
        FeedEvent(
            topic: TopicID("order/\(number % topics)"), topicKind: .generic,
            at: FeedTime(seconds: 1_790_000_000 + Int64(number)), id: "e\(number)", kind: "patch",
            change: .patch(["number": .int(Int64(number))]),
            alert: number % 7 == 0 ? AlertText(title: "\(number)", body: "") : nil)
    }

    private static func entry(_ number: Int) -> LogEntry {
        LogEntry(now: FeedTime(seconds: 1_790_000_000 + Int64(number)), .event(event(number), wall: nil))
    }

    @Test func aCheckpointIsWrittenAfterSoManyEntriesAndInParts() throws {
        let log = MemoryLog()
        let (core, _) = Self.core()
        try core.recall(log, under: .builtIn)
        let sink = Sink(log.checkpoints)
        let checkpointer = try Checkpointer(core, log, sink: sink, rules: Self.rules(of: log), interval: 120)
        var trimmed: [LogPosition] = []
        checkpointer.onTrim = { trimmed.append($0) }
        var parts = 0
        func decide(_ numbers: Range<Int>) {
            for number in numbers {
                log.append([Self.entry(number)])
                core.apply(Self.entry(number))
                checkpointer.noteDecided(Self.entry(number))
                if checkpointer.run() { parts += 1 }
            }
        }
        decide(0..<118)
        #expect(sink.told.isEmpty)
        sink.isFull = true
        decide(118..<130)
        #expect(sink.told == ["begin 120"], "rows wait for the disk")
        sink.isFull = false
        decide(130..<131)
        #expect(sink.told == ["begin 120", "finish"])
        // The next one waits for the end of this one.
        decide(131..<400)
        #expect(sink.told.count == 2)
        checkpointer.end(.success(try log.checkpoints.finish()))
        #expect(trimmed == [], "one is none: it may be damaged")
        decide(400..<401)
        #expect(sink.told.suffix(2) == ["begin 402", "finish"])
        checkpointer.end(.success(try log.checkpoints.finish()))
        #expect(trimmed == [119])
        // A disk that refuses one is asked again after as many entries.
        decide(401..<600)
        checkpointer.end(.failure(LogError("the disk is full")))
        decide(600..<719)
        #expect(sink.told.count == 6)
        decide(719..<720)
        #expect(sink.told.suffix(2) == ["begin 721", "finish"])
    }

    /// An order for all topics gives a checkpoint up. The next one is begun some entries later, and operators are told if that goes on.
    @Test func aCheckpointThatIsGivenUpBeginsAgainLater() throws {
        let log = MemoryLog()
        let (core, _) = Self.core()
        try core.recall(log, under: .builtIn)
        let sink = Sink(log.checkpoints)
        let checkpointer = try Checkpointer(core, log, sink: sink, rules: Self.rules(of: log), interval: 200)
        var told: [String] = []
        checkpointer.onReport = { told.append($0) }
        sink.isFull = true
        var begun: [Int] = []
        for number in 0..<2000 {
            let now = FeedTime(seconds: 1_790_000_000 + Int64(number))
            let order = FeedEvent(topic: .every, at: now, kind: "pause", change: .operation(.pause))
            let entry =
                sink.told.last?.hasPrefix("begin") == true
                ? LogEntry(now: now, .event(order, wall: nil)) : Self.entry(number)
            log.append([entry])
            core.apply(entry)
            checkpointer.noteDecided(entry)
            #expect(!checkpointer.run())
            if sink.told.last?.hasPrefix("begin") == true { begun.append(number) }
        }
        #expect(begun.count > 20 && zip(begun, begun.dropFirst()).allSatisfy { $1 - $0 > 50 }, "\(begun)")
        #expect(told.count > 1 && told.allSatisfy { $0.contains("were given up") }, "\(told)")
    }

    /// Topics that have come since a checkpoint was begun make the next one due so late that its place would lie before the log's beginning.
    @Test func aCheckpointMayBeGivenUpAfterManyTopicsHaveCome() throws {
        let log = MemoryLog()
        let (core, _) = Self.core()
        try core.recall(log, under: .builtIn)
        let sink = Sink(log.checkpoints)
        let checkpointer = try Checkpointer(core, log, sink: sink, rules: Self.rules(of: log), interval: 1)
        sink.isFull = true
        let now = FeedTime(seconds: 1_790_001_000)
        let order = FeedEvent(topic: .every, at: now, kind: "pause", change: .operation(.pause))
        let events =
            (0..<20).map { Self.event($0, topics: 1) } + (20..<220).map { Self.event($0, topics: 1000) } + [order]
        for event in events {
            let entry = LogEntry(now: event.at, .event(event, wall: nil))
            core.apply(entry)
            checkpointer.noteDecided(entry)
            #expect(!checkpointer.run())
        }
        #expect(sink.told == ["begin 2", "abandon"])
    }

    /// Everything that a core tells of its decisions.
    private final class Witness: EngineCoreDelegate {
        var told: [UInt8] = []
        func coreDidRecord(_ record: DecisionRecord, of publication: Publication?) { record.write(to: &told) }
    }

    private static func published(_ rings: [ShardRings]) -> [[String]] {
        rings.map { rings in
            var commands = rings.commands.takeConsumer()
            var published: [String] = []
            while let command = commands.pop() {
                guard case .publish(let it) = command else { continue }
                published.append(
                    "\(it.serial) \(it.topicID) \(it.version) \(String(decoding: it.state.bytes, as: UTF8.self))")
            }
            return published
        }
    }

    /// An app that is paused stays so, also if a program without it writes a checkpoint meanwhile.
    @Test func ordersForAnAppOutliveAnEngineWithoutIt() throws {
        let apps = [AppID(bundleID: "a"), AppID(bundleID: "b")]
        let log = MemoryLog()
        let now = FeedTime(seconds: 1_790_000_000)
        for (run, present) in [apps, [apps[0]], apps].enumerated() {
            let (core, rings) = Self.core(apps: present)
            try core.recall(log, under: .builtIn)
            let pause = LogEntry(
                now: now,
                .event(
                    FeedEvent(
                        topic: .every, at: now, kind: "pause", change: .operation(.pause), app: apps[1]), wall: nil))
            let entry = run == 0 ? pause : Self.entry(run)
            log.append([entry])
            let sink = Sink(log.checkpoints)
            let checkpointer = try Checkpointer(core, log, sink: sink, rules: Self.rules(of: log), interval: 1)
            core.apply(entry)
            while checkpointer.run() {}
            if sink.told.last == "finish" { _ = try log.checkpoints.finish() }
            core.turnIsOver()
            guard run == 2 else { continue }
            let sent = Self.published(rings)
            #expect(!sent[0].isEmpty && sent[1].isEmpty, "\(sent)")
        }
    }

    /// A restart from any checkpoint sends what one from the whole log does, and decides on byte for byte; also with an app that is paused.
    @Test func aRestartFromACheckpointIsLikeOneFromTheWholeLog() throws {
        let apps = [AppID(bundleID: "a"), AppID(bundleID: "b", environment: .development)]
        let orders: [Int: FeedEvent.Operation] = [40: .pause, 90: .mute, 300: .resume]
        func entry(_ number: Int) -> LogEntry {
            guard let operation = orders[number] else { return Self.entry(number) }
            let now = FeedTime(seconds: 1_790_000_000 + Int64(number))
            return LogEntry(
                now: now,
                .event(
                    FeedEvent(
                        topic: .every, at: now, kind: operation.rawValue, change: .operation(operation), app: apps[1]),
                    wall: nil))
        }
        for cut in stride(from: 10, to: 400, by: 23) {
            var outputs: [(sent: [[String]], told: [UInt8])] = []
            for isTrimmed in [false, true] {
                let log = MemoryLog()
                let (first, _) = Self.core(apps: apps)
                try first.recall(log, under: .builtIn)
                let sink = Sink(log.checkpoints)
                let checkpointer = try Checkpointer(first, log, sink: sink, rules: Self.rules(of: log), interval: 30)
                checkpointer.onTrim = { log.trim(through: $0) }
                for number in 0..<cut {
                    log.append([entry(number)])
                    first.apply(entry(number))
                    checkpointer.noteDecided(entry(number))
                    guard isTrimmed else { continue }
                    _ = checkpointer.run()
                    if sink.told.last == "finish" {
                        sink.told = []
                        checkpointer.end(.success(try log.checkpoints.finish()))
                    }
                }
                #expect((log.start > 1) == (isTrimmed && cut > 200), "cut at \(cut): \(log.start)")
                let (second, rings) = Self.core(apps: apps)
                try second.recall(log, under: .builtIn)
                second.turnIsOver()
                #expect(second.records == first.records)
                let sent = Self.published(rings)
                let witness = Witness()
                second.delegate = witness
                for number in cut..<cut + 100 { second.apply(entry(number)) }
                outputs.append((sent, witness.told))
            }
            #expect(outputs[0].sent == outputs[1].sent, "cut at \(cut)")
            #expect(outputs[0].told == outputs[1].told, "cut at \(cut)")
        }
    }
}

extension CheckpointerTests {
    /// Lives too short for a checkpoint of their own: each ends with one, and the next one trims the log.
    @Test func aLogIsTrimmedAlsoIfEachLifeIsShort() throws {
        let folder = TemporaryFolder()
        for life in 0..<6 {
            let log = try LMDBLog(folder: folder.path)
            let (core, _) = Self.core()
            try core.recall(log, under: .builtIn)
            let checkpointer = try Checkpointer(
                core, log, sink: Sink(log.checkpoints), rules: LogRules(text: Self.firstRules), interval: 1000)
            checkpointer.onTrim = { log.trim(through: $0) }
            try checkpointer.trimBehindOlder(log)
            for number in life * 30..<life * 30 + 30 {
                try log.append([Self.entry(number)])
                core.apply(Self.entry(number))
                checkpointer.noteDecided(Self.entry(number))
                #expect(!checkpointer.run())
            }
            checkpointer.finish { false }
            _ = try log.checkpoints.finish()
            if life > 2 { #expect(log.start > LogPosition((life - 2) * 30), "life \(life) begins at \(log.start)") }
            log.close()
        }
    }

    /// Thirty days of matches that come and go, and of boards that never end, with a restart each day.
    @Test func aSeasonLeavesTheFilesFlat() throws {
        let folder = TemporaryFolder()
        let day: Int64 = 86_400
        var sizes: [(log: Int, checkpoints: Int, decided: Int)] = []
        for number in 0..<30 {
            let log = try LMDBLog(folder: folder.path)
            let (core, _) = Self.core()
            let before = core.records.all
            try core.recall(log, under: .builtIn)
            let rules = LogRules(text: Self.firstRules)
            let sink = Sink(log.checkpoints)
            let checkpointer = try Checkpointer(core, log, sink: sink, rules: rules, interval: 200)
            checkpointer.onTrim = { log.trim(through: $0) }
            let recalled = Int(log.end - (try log.checkpoints.positions().first ?? 0))
            let morning = 1_790_000_000 + Int64(number) * day
            var entries: [LogEntry] = []
            for step in 0..<300 {
                let now = FeedTime(seconds: morning + Int64(step) * 200)
                let match = TopicID("match/\(number)/\(step / 100)")
                let board = TopicID("board/\(step % 20)")
                let isFirst = step % 100 == 0
                let fact = Fact(id: "f\(step)", kind: "goal", at: now, values: ["side": "home"])
                let isLast = step % 100 == 99
                entries.append(
                    LogEntry(
                        now: now,
                        .event(
                            FeedEvent(
                                topic: match, topicKind: .football, at: now, id: "\(step)", kind: "x",
                                lifecycle: isFirst ? .start : isLast ? .end : nil, change: .fact(fact)), wall: nil)))
                entries.append(
                    LogEntry(
                        now: now,
                        .event(
                            FeedEvent(
                                topic: board, topicKind: .generic, at: now, id: "\(number)/\(step)", kind: "x",
                                change: .patch(["number": .int(Int64(step))])), wall: nil)))
            }
            for batch in stride(from: 0, to: entries.count, by: 50) {
                let batch = Array(entries[batch..<batch + 50])
                try log.append(batch)
                for entry in batch {
                    core.apply(entry)
                    checkpointer.noteDecided(entry)
                    _ = checkpointer.run()
                }
                if sink.told.last == "finish" {
                    sink.told = []
                    checkpointer.end(.success(try log.checkpoints.finish()))
                }
            }
            #expect(before == 0)
            sizes.append((try folder.bytes(of: "data.mdb"), try folder.bytes(of: "checkpoint-"), recalled))
        }
        // A board remembers its newest ids, whose number is limited; after some days it has them all.
        #expect(sizes[29].log <= sizes[5].log, "\(sizes)")
        #expect(sizes[29].checkpoints < sizes[9].checkpoints * 5, "\(sizes)")
        #expect(sizes.dropFirst().allSatisfy { $0.decided < 700 }, "\(sizes)")
    }

    /// Text of the built-in rules, as a recall writes it.
    private static var firstRules: String {
        let log = MemoryLog()
        let (core, _) = core()
        try? core.recall(log, under: .builtIn)
        return (try? rules(of: log))?.text ?? ""
    }
}

extension TemporaryFolder {
    fileprivate func bytes(of prefix: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix(prefix) }.reduce(0) {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + $1)
            return $0 + ((attributes[.size] as? Int) ?? 0)
        }
    }
}
