import CFanfareBench
import Fanfare
import FanfareDecisions
import FanfareLog
import FanfareLoop
import FanfareModel
import Foundation

/// A restart of a core with many topics, from the whole log and from a checkpoint, and what writing the checkpoint costs the core's thread.
enum Restarts {
    /// Prints one JSON object: seconds of the two restarts, each from a log of LMDB in the page cache; bytes of the checkpoint per topic;
    /// milliseconds that the core's thread spends on all of it, and on the longest of its parts; and the file's own seconds.
    static func report(topics: Int) {
        // A benchmark without its store has nothing to say, and nobody to say it to but whoever started it.
        do { try measure(topics: topics) } catch { fatalError("fanfare-bench: \(error)") }
    }

    private static let changes = 8
    /// Entries behind a checkpoint, when the next one is due.
    private static let entriesBehind = Int(Checkpointer.defaultInterval)

    private static func measure(topics: Int) throws {
        let folder = NSTemporaryDirectory() + "fanfare-bench-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let log = try LMDBLog(folder: folder)
        let loop = try Loop()
        let core = try makeCore(loop)
        try core.recall(log, under: .builtIn)
        let behind = min(entriesBehind, topics * changes / 2)
        let cut = topics * changes - behind
        var written = Written()
        for first in stride(from: 0, to: topics * changes, by: 1000) {
            let entries = (first..<min(first + 1000, topics * changes)).map { entry($0, topics: topics) }
            if first <= cut, cut < first + 1000 { written = try write(core, log) }
            try log.append(entries)
            for entry in entries { core.apply(entry) }
        }
        core.stop(within: .zero)
        let entries = log.end
        let short = try seconds(toRecall: log)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix("checkpoint-") {
            try FileManager.default.removeItem(atPath: folder + "/" + name)
        }
        let whole = try seconds(toRecall: log)
        print(
            """
            {"topics": \(topics), "entries": \(entries), "whole_s": \(whole), "checkpoint_s": \(short), \
            "bytes": \(written.bytes / topics), "core_ms": \(written.seconds * 1e3), \
            "part_max_ms": \(written.longest * 1e3), "file_s": \(written.fileSeconds)}
            """)
    }

    struct Written {
        var bytes = 0
        var seconds = 0.0
        var longest = 0.0
        var fileSeconds = 0.0
    }

    /// A core with a shard that nobody follows.
    static func makeCore(_ loop: Loop) throws -> EngineCore {
        try EngineCore(
            loop: loop, shards: 1, makeTransports: TransportChoice.discard.makeFactories(shards: 1),
            isLive: true)
    }

    private static func entry(_ number: Int, topics: Int) -> LogEntry {
        let (topic, step) = (number % topics, number / topics)
        let now = FeedTime(milliseconds: 1_790_000_000_000 + Int64(number))
        let change: JSONObject =
            step == 0
            ? ["number": .int(Int64(topic)), "shop": "Burger & Söhne", "status": "placed", "stopsBefore": 9]
            : ["stopsBefore": .int(Int64(9 - step))]
        return LogEntry(
            now: now,
            .event(
                FeedEvent(
                    topic: TopicID("order/\(topic)"), topicKind: .delivery, at: now, id: "\(step)", kind: "patch",
                    change: .patch(change)), wall: nil))
    }

    /// Writes a checkpoint of a core that has decided the whole log.
    static func write(_ core: EngineCore, _ log: LMDBLog) throws -> Written {
        var written = Written()
        let clock = ContinuousClock()
        let rules = LogRules(text: Rules.builtInText(of: log))
        let sink = FileSink(log.checkpoints)
        let checkpointer = try Checkpointer(core, log, sink: sink, rules: rules, interval: 0)
        var isWriting = true
        while isWriting {
            let part = clock.measure { isWriting = checkpointer.run() } - sink.taken
            written.seconds += part / .seconds(1)
            written.longest = max(written.longest, part / .seconds(1))
            written.fileSeconds += sink.taken / .seconds(1)
            sink.taken = .zero
        }
        written.bytes = sink.bytes
        return written
    }

    /// The file, written on the same thread; its time is measured apart.
    private final class FileSink: CheckpointSink {
        private let store: any CheckpointStore
        var taken = Duration.zero
        private(set) var bytes = 0
        let isFull = false

        init(_ store: any CheckpointStore) { self.store = store }

        private func time(_ body: () throws -> Void) {
            taken += ContinuousClock().measure {
                do { try body() } catch { fatalError("fanfare-bench: \(error)") }
            }
        }

        func begin(_ head: CheckpointHead) { time { try store.begin(head) } }
        func append(_ rows: [[UInt8]]) {
            bytes += rows.reduce(0) { $0 + $1.count }
            time { try store.append(rows) }
        }
        func finish() { time { _ = try store.finish() } }
        func abandon() { store.abandon() }
    }

    /// Recalls the log into a new core.
    private static func seconds(toRecall log: LMDBLog) throws -> Double {
        let loop = try Loop()
        let core = try makeCore(loop)
        let time = try ContinuousClock().measure { try core.recall(log, under: .builtIn) }
        core.stop(within: .zero)
        return time / .seconds(1)
    }
}

extension Rules {
    /// Text of the rules that the first recall has given the log.
    fileprivate static func builtInText(of log: LMDBLog) -> String {
        var text = ""
        try? log.read(from: 1) { (_, entry) in
            if case .rules(let rules, _) = entry.body { text = rules }
            return false
        }
        return text
    }
}
