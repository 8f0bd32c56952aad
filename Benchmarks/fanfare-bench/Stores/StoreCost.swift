import Fanfare
import FanfareLoop
import FanfareModel
import Foundation

/// Costs of a store to an engine beside its disk: sweeps of one topic's followers, and goals to lineups, with a store and without one, in turns.
enum StoreCost {
    static func measure(_ sizes: StoreSizes) throws -> Figures {
        // A lineup takes ten times a follower's memory.
        let lineups = max(1, min(sizes.people / 4, LineupSelection.count))
        var figures = Figures()
        figures.note("people", sizes.people)
        figures.note("lineups", lineups)
        figures.note("rounds", sizes.rounds)
        let ofTopic = try runs(.sweeps, sizes) { try $0.importPeople(sizes.people) { _ in Sweeps.topic } }
        note(ofTopic, "", to: &figures)
        var lineupSizes = sizes
        lineupSizes.people = lineups
        let ofLineups = try runs(.lineups, lineupSizes) { store in
            try store.importCards(of: lineups) { LineupGoals.audience(of: $0) }
        }
        note(ofLineups, "lineups_", to: &figures)
        return figures
    }

    private typealias Run = (kept: Figures, bare: Figures)

    /// - Parameter fill: puts the people into an empty store.
    private static func runs(
        _ part: Stores.Part, _ sizes: StoreSizes, _ fill: (TemporaryStore) throws -> Void
    ) throws -> [Run] {
        var runs: [Run] = []
        for _ in 0..<sizes.rounds {
            let kept = try TemporaryStore.make(in: sizes.folder) { store in
                try fill(store)
                return try figures(of: part, sizes, in: store.folder)
            }
            runs.append((kept: kept, bare: try figures(of: part, sizes, in: "")))
        }
        return runs
    }

    private static func note(_ runs: [Run], _ prefix: String, to figures: inout Figures) {
        for name in runs[0].bare.all.map(\.name).sorted() {
            let (kept, bare) = (median(runs.compactMap { $0.kept[name] }), median(runs.compactMap { $0.bare[name] }))
            figures.note("\(prefix)\(name)_with_store", kept)
            figures.note("\(prefix)\(name)_without", bare)
            if name.hasPrefix("bytes") {
                figures.note("\(prefix)\(name)_more", ((kept - bare) * 10).rounded() / 10)
            } else {
                figures.note("\(prefix)\(name)_percent_more", ((kept / bare - 1) * 1000).rounded() / 10)
            }
        }
    }

    private static func figures(of part: Stores.Part, _ sizes: StoreSizes, in folder: String) throws -> Figures {
        try Figures.ofProcess([
            "--store=\(part.rawValue)", "--people=\(sizes.people)", "--sweeps=\(sizes.sweeps)", "--folder=\(folder)",
        ])
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}

/// Sweeps of one engine, each of which begins when the one before has reached everybody.
enum Sweeps {
    static let topic = TopicID("match/1")
    /// Topics may change as often as sweeps begin, and everybody wants every alert.
    static var options: Engine.Options {
        var options = Engine.Options(transport: .discard)
        options.rules.other.pace.minimumInterval = .zero
        options.rules.other.alerts.requested = AlertRule(
            .essential, burst: 1000, refill: .seconds(1), freshFor: .seconds(300))
        options.limits.immediate = TokenBucket.Size(burst: 1000, refill: .seconds(1))
        return options
    }

    static func measure(_ sizes: StoreSizes) throws -> Figures {
        let before = try anonymousBytes()
        var options = options
        if sizes.folder.isEmpty {
            options.subscribers = UnstoredPeople(expectedCount: sizes.people) { _ in .topic(Sweeps.topic) }
        } else {
            options.store = .folder(sizes.folder)
        }
        let board = PushBoard()
        let engine = try Engine(benchmarking: options, board.factory)
        var figures = Figures()
        // The first sweep touches memory that the others find.
        _ = try sweep(engine, board, 1, sizes)
        figures.note("bytes_per_activity_loaded", Double(try anonymousBytes() - before) / Double(sizes.people))
        var version = 1
        for (name, alerts) in [("silent", false), ("alerts", true)] {
            var (seconds, processor) = (0.0, 0.0)
            for _ in 0..<sizes.sweeps {
                version += 1
                let cost = try sweep(engine, board, version, sizes, alerts: alerts)
                seconds += cost.seconds
                processor += cost.processor
            }
            figures.note("\(name)_cpu_ns_per_push", processor * 1e9 / Double(sizes.sweeps * sizes.people))
            figures.note("\(name)_sweeps_per_s", Double(sizes.sweeps) / seconds)
        }
        figures.note("bytes_per_activity_swept", Double(try anonymousBytes() - before) / Double(sizes.people))
        try finished {
            try await engine.expect(activities: sizes.people)
            try await engine.end()
        }
        let seen = board.seen
        guard seen.pushes == version * sizes.people, seen.alerts == sizes.sweeps * sizes.people else {
            throw BenchmarkFault(
                "\(seen.pushes) pushes and \(seen.alerts) alerts have left, of \(version) sweeps to \(sizes.people) people"
            )
        }
        return figures
    }

    /// Publishes a version, and waits until it has left for everybody.
    private static func sweep(
        _ engine: Engine, _ board: PushBoard, _ version: Int, _ sizes: StoreSizes, alerts: Bool = false
    ) throws -> (seconds: Double, processor: Double) {
        let (clock, processor) = (Clock.monotonicNanoseconds(), Clock.processCPUNanoseconds())
        let event = FeedEvent(
            topic: topic, topicKind: .generic, at: FeedTime(milliseconds: Clock.wallMilliseconds()),
            seq: UInt64(version), kind: "patch", change: .patch(["home": "Reds", "minute": .int(Int64(version))]),
            alert: alerts ? AlertText(title: "Goal", body: "\(version) : 0") : nil)
        guard engine.offer(event).isTaken else { throw BenchmarkFault("the engine refuses event \(version)") }
        try board.wait(for: version * sizes.people)
        return (
            Double(board.seen.lastAt - clock) / 1e9, Double(Clock.processCPUNanoseconds() - processor) / 1e9
        )
    }

    /// Resident bytes of the process that are no file's: the pages of a mapped store are the page cache's.
    static func anonymousBytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { throw BenchmarkFault("/proc/self/status has no RssAnon; Linux 4.5 or newer has it") }
        return kilobytes << 10
    }
}
