import Fanfare
import FanfareLog
import FanfareLoop
import FanfareModel

/// A whole engine that is created on a store of which nothing is in the page cache: from the whole log, and
/// once more from a checkpoint and the entries behind it.
enum EngineRestart {
    /// Log time from the first entry to the last one, which is now. A topic's changes are far enough apart that none of them waits.
    private static let logMilliseconds: Int64 = 600_000
    private static let entriesPerAppend = 10_000

    static func measure(_ sizes: StoreSizes) throws -> Figures {
        guard sizes.entries >= sizes.topics, sizes.people >= sizes.topics else {
            throw BenchmarkFault(
                "each topic has an entry and a follower: give --entries and --people of --topics at least")
        }
        return try TemporaryStore.make(in: sizes.folder) { store in
            try store.importPeople(sizes.people) { TopicNumbers.id($0 % sizes.topics) }
            let behind = try fillLog(of: store, sizes)
            var figures = Figures()
            figures.note("people", sizes.people)
            figures.note("topics", sizes.topics)
            figures.note("entries", sizes.entries)
            figures.note("entries_behind_checkpoint", behind)
            figures.note("store_bytes", try store.bytes)
            // In this order, because an engine trims its log once it has written a second checkpoint.
            try store.setCheckpointsAside()
            try start(on: store, sizes, "whole_log_", &figures)
            try store.putCheckpointsBack()
            try start(on: store, sizes, "checkpoint_", &figures)
            return figures
        }
    }

    /// Appends the entries, and writes a checkpoint where an engine would have written its last one long ago: the next is due.
    ///
    /// - Returns: number of entries behind the checkpoint.
    private static func fillLog(of store: TemporaryStore, _ sizes: StoreSizes) throws -> Int {
        let log = try LMDBLog(folder: store.folder)
        defer { log.close() }
        let core = try Restarts.makeCore(try Loop())
        try core.recall(log, under: .builtIn)
        let wanted = min(max(Int(Checkpointer.defaultInterval), 2 * sizes.topics), sizes.entries / 2)
        var behind = 0
        let first = FeedTime(milliseconds: Clock.wallMilliseconds() - logMilliseconds)
        let count = min(entriesPerAppend, max(1, sizes.entries / 20))
        for from in stride(from: 0, to: sizes.entries, by: count) {
            if behind == 0, sizes.entries - from <= wanted {
                _ = try Restarts.write(core, log)
                behind = sizes.entries - from
            }
            let entries = (from..<min(from + count, sizes.entries)).map { entry($0, sizes, first) }
            try log.append(entries)
            for entry in entries { core.apply(entry) }
        }
        core.stop(within: .zero)
        return behind
    }

    private static func entry(_ number: Int, _ sizes: StoreSizes, _ first: FeedTime) -> LogEntry {
        let (step, topic) = number.quotientAndRemainder(dividingBy: sizes.topics)
        let now = first + .milliseconds(logMilliseconds * Int64(number) / Int64(sizes.entries))
        return LogEntry(
            now: now,
            .event(
                FeedEvent(
                    topic: TopicNumbers.id(topic), topicKind: .generic, at: now, id: "\(step)", kind: "patch",
                    change: .patch(["home": "Reds", "away": "Blues", "number": .int(Int64(step))])), wall: nil))
    }

    private static func start(
        on store: TemporaryStore, _ sizes: StoreSizes, _ prefix: String, _ figures: inout Figures
    ) throws {
        figures.note("\(prefix)cached_bytes_after_posix_fadvise", try store.leavePageCache())
        let seen = try Figures.ofProcess([
            "--store=start", "--people=\(sizes.people)", "--topics=\(sizes.topics)", "--entries=\(sizes.entries)",
            "--folder=\(store.folder)",
        ])
        for name in EngineStart.names { figures.note(prefix + name, seen[name] ?? 0) }
    }
}

/// One engine that is created on a store, in a process that has read none of it.
enum EngineStart {
    /// Seconds from the beginning of `Engine.init` to the first push, to the moment at which the engine takes calls, and to the push of the
    /// last activity.
    static let names = ["first_push_s", "taking_calls_s", "everybody_s", "peak_bytes"]
    /// Topics whose states are compared.
    private static let topicsCompared = 10_000

    static func measure(_ sizes: StoreSizes) throws -> Figures {
        let board = PushBoard()
        let options = Engine.Options(transport: .discard, store: .folder(sizes.folder))
        let started = Clock.monotonicNanoseconds()
        let engine = try Engine(benchmarking: options, board.factory)
        let created = Clock.monotonicNanoseconds()
        try board.wait(for: sizes.people)
        let seen = board.seen
        var figures = Figures()
        for (name, moment) in zip(names, [seen.firstAt, created, seen.lastAt]) {
            figures.note(name, Double(moment - started) / 1e9)
        }
        figures.note("peak_bytes", Int(Clock.peakResidentBytes()))
        try finished {
            try await check(engine, sizes)
            try await engine.end()
        }
        try check(board.seen, people: sizes.people)
        return figures
    }

    private static func check(_ engine: Engine, _ sizes: StoreSizes) async throws {
        try await engine.expect(activities: sizes.people)
        for topic in stride(from: 0, to: sizes.topics, by: max(1, sizes.topics / topicsCompared)) {
            let last = (sizes.entries - 1 - topic) / sizes.topics
            let shown = try await engine.topicState(TopicNumbers.id(topic))?.contentState?["number"]?.doubleValue
            guard let shown, Int(shown) == last else {
                throw BenchmarkFault("topic \(topic) shows \(shown.map { "\($0)" } ?? "nothing") and not event \(last)")
            }
        }
    }

    /// Each activity has got one push, with its token.
    private static func check(_ seen: PushBoard.Seen, people: Int) throws {
        var sum: UInt64 = 0
        for number in 0..<people { for byte in Person(number).token() { sum &+= UInt64(byte) } }
        guard seen.pushes == people, seen.tokenSum == sum else {
            throw BenchmarkFault("\(seen.pushes) pushes have left for \(people) people, with other tokens than theirs")
        }
    }
}
