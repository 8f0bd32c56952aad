import Fanfare
import FanfareLoop
import FanfareModel

/// Goals of one topic, which all people have in lineups of their own. Each goal begins when everybody has been told of the one before.
enum LineupGoals {
    /// The rules of `Sweeps`, by which no alert waits for another one.
    private static var options: Engine.Options {
        var options = Sweeps.options
        options.rules.lineups.gather = .zero
        options.rules.lineups.minimumInterval = .zero
        return options
    }

    static func audience(of person: Int) -> AudienceKey {
        .lineup(LineupSelection.chosen(by: person).map(topic))
    }

    private static func topic(_ number: Int) -> TopicID { TopicID("match/\(number)") }

    static func measure(_ sizes: StoreSizes) throws -> Figures {
        let before = try Sweeps.anonymousBytes()
        var options = options
        if sizes.folder.isEmpty {
            options.subscribers = UnstoredPeople(expectedCount: sizes.people) { LineupGoals.audience(of: $0) }
        } else {
            options.store = .folder(sizes.folder)
        }
        let board = PushBoard()
        let engine = try Engine(benchmarking: options, board.factory)
        try begin(engine, people: sizes.people)
        // The first goal touches memory that the others find.
        _ = try goal(engine, board, 1, sizes)
        var figures = Figures()
        figures.note(
            "bytes_per_activity_loaded", Double(try Sweeps.anonymousBytes() - before) / Double(sizes.people))
        var (seconds, processor) = (0.0, 0.0)
        for number in 2...sizes.sweeps + 1 {
            let cost = try goal(engine, board, number, sizes)
            seconds += cost.seconds
            processor += cost.processor
        }
        figures.note("goals_cpu_ns_per_push", processor * 1e9 / Double(sizes.sweeps * sizes.people))
        figures.note("goals_per_s", Double(sizes.sweeps) / seconds)
        try finished {
            try await engine.expect(activities: sizes.people)
            try await engine.end()
        }
        let alerts = board.seen.alerts
        guard alerts == (sizes.sweeps + 1) * sizes.people else {
            throw BenchmarkFault(
                "\(alerts) alerts have left, of \(sizes.sweeps + 1) goals to \(sizes.people) lineups")
        }
        return figures
    }

    /// Gives each topic its first state, and waits until everybody sees all of them.
    private static func begin(_ engine: Engine, people: Int) throws {
        for number in 0..<LineupSelection.topics {
            guard engine.offer(event(number, version: 1)).isTaken else {
                throw BenchmarkFault("the engine refuses the beginning of topic \(number)")
            }
        }
        let patience = Engine.patience(for: people)
        let isSettled = try finished { await engine.settle(within: patience) }
        guard isSettled else { throw BenchmarkFault("not everybody has seen all topics in \(patience)") }
    }

    /// Publishes a goal, and waits until everybody has been told of it.
    private static func goal(
        _ engine: Engine, _ board: PushBoard, _ number: Int, _ sizes: StoreSizes
    ) throws -> (seconds: Double, processor: Double) {
        let (clock, processor) = (Clock.monotonicNanoseconds(), Clock.processCPUNanoseconds())
        let goal = event(0, version: number + 1, alert: AlertText(title: "Goal", body: "\(number) : 0"))
        guard engine.offer(goal).isTaken else { throw BenchmarkFault("the engine refuses goal \(number)") }
        try board.wait(forAlerts: number * sizes.people)
        return (
            Double(board.seen.lastAt - clock) / 1e9, Double(Clock.processCPUNanoseconds() - processor) / 1e9
        )
    }

    private static func event(_ number: Int, version: Int, alert: AlertText? = nil) -> FeedEvent {
        FeedEvent(
            topic: topic(number), topicKind: .generic, at: FeedTime(milliseconds: Clock.wallMilliseconds()),
            seq: UInt64(version), kind: "patch", change: .patch(["home": "Reds", "minute": .int(Int64(version))]),
            alert: alert)
    }
}
