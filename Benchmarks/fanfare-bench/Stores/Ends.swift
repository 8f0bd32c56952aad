import Dispatch
import Fanfare
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import FanfareQueues
import Glibc

/// Goals of matches whose followers are few, by themselves, beside the end of a match that everybody else follows, and while the rows of
/// its ended cards are removed from the store.
enum Ends {
    enum Phase: Int, CaseIterable {
        case alone, besideEnds, besideRemovals

        var prefix: String {
            switch self {
            case .alone: "alone_"
            case .besideEnds: "beside_ends_"
            case .besideRemovals: "beside_removals_"
            }
        }
    }

    /// A goal of each in turn, so that none of them has too many alerts.
    static let matches = 500
    private static let goalsPerSecond = 10
    private static let final = TopicID("final")
    /// Longest wait for what is certain to leave.
    private static let patienceSeconds = 900

    static func match(_ number: Int) -> TopicID { TopicID("match/\(number)") }

    static func measure(_ sizes: StoreSizes) throws -> Figures {
        guard sizes.followers.isMultiple(of: matches) else {
            throw BenchmarkFault(
                "--followers=\(sizes.followers): give a multiple of \(matches), the number of matches with goals")
        }
        return try TemporaryStore.make(in: sizes.folder) { store in
            try store.importPeople(sizes.people + sizes.followers) { number in
                number < sizes.people ? final : match(number % matches)
            }
            let board = GoalBoard(followersOfMatch: sizes.followers / matches)
            let options = Engine.Options(transport: .discard, store: .folder(store.folder))
            let engine = try Engine(benchmarking: options) { loop, source, context in
                try WatchedTransport(loop, source, context.clock) { board.note($0, at: $1) }
            }
            try begin(engine)
            var figures = Figures()
            figures.note("people", sizes.people)
            figures.note("followers_of_a_match", sizes.followers / matches)
            try play(engine, board, sizes, &figures)
            try finished { try await engine.end() }
            try note(rowsOf: store, sizes, &figures)
            return figures
        }
    }

    private static func event(
        _ topic: TopicID, _ kind: String, _ values: JSONObject, id: String? = nil
    ) -> FeedEvent {
        let now = FeedTime(milliseconds: Clock.wallMilliseconds())
        return FeedEvent(
            topic: topic, topicKind: .football, at: now, kind: kind,
            change: .fact(Fact(id: id ?? kind, kind: kind, at: now, values: values)))
    }

    /// Begins all matches, and waits until everybody sees that.
    private static func begin(_ engine: Engine) throws {
        try finished {
            for topic in [final] + (0..<matches).map(match) {
                _ = try await engine.ingest(event(topic, "teams", ["home": "Reds", "away": "Blues"]))
                _ = try await engine.ingest(event(topic, "period", ["period": "1H"]))
            }
            guard await engine.settle(within: .seconds(patienceSeconds)) else {
                throw BenchmarkFault("not everybody has seen the beginning of the matches in \(patienceSeconds) s")
            }
        }
    }

    private static func play(
        _ engine: Engine, _ board: GoalBoard, _ sizes: StoreSizes, _ figures: inout Figures
    ) throws {
        var goals = 0
        for phase in Phase.allCases {
            let started = Clock.monotonicNanoseconds()
            if phase == .besideEnds {
                let end = FeedEvent(
                    topic: final, at: FeedTime(milliseconds: Clock.wallMilliseconds()), kind: "end", lifecycle: .end)
                guard engine.offer(end).isTaken else { throw BenchmarkFault("the engine refuses the match's end") }
            }
            let first = goals
            repeat {
                let due = started + Int64(goals - first) * 1_000_000_000 / Int64(goalsPerSecond)
                usleep(UInt32(max(0, due - Clock.monotonicNanoseconds()) / 1000))
                let number = goals % matches
                board.begin(match: number, in: phase, at: Clock.monotonicNanoseconds())
                let goal = event(match(number), "goal", ["side": "home"], id: "goal \(goals)")
                guard engine.offer(goal).isTaken else { throw BenchmarkFault("the engine refuses goal \(goals)") }
                goals += 1
            } while try goesOn(phase, since: started, board, sizes)
            try board.wait(forGoals: goals, patienceSeconds)
            figures.note("\(phase.prefix)goals", goals - first)
            board.latency(of: phase).write(phase.prefix, to: &figures)
            if phase == .besideEnds { figures.note("ends_s", board.endsSeconds(since: started)) }
        }
    }

    private static func goesOn(
        _ phase: Phase, since started: Int64, _ board: GoalBoard, _ sizes: StoreSizes
    ) throws -> Bool {
        let seconds = (Clock.monotonicNanoseconds() - started) / 1_000_000_000
        guard phase == .besideEnds else { return seconds < sizes.seconds }
        guard seconds < patienceSeconds, board.ends <= sizes.people else {
            throw BenchmarkFault("\(board.ends) ends of \(sizes.people) have left in \(seconds) s")
        }
        return board.ends < sizes.people
    }

    /// All followers of the matches must have their rows. Those of ended cards that are left are removed by the next engine.
    private static func note(
        rowsOf store: TemporaryStore, _ sizes: StoreSizes, _ figures: inout Figures
    ) throws {
        var (followers, ended) = (0, 0)
        try store.readPeople { number, card in
            if number < sizes.people { ended += 1 } else if card.token == Person(number).token() { followers += 1 }
        }
        guard followers == sizes.followers else {
            throw BenchmarkFault("the store has \(followers) rows of \(sizes.followers) followers of the other matches")
        }
        figures.note("ended_rows_left", ended)
    }
}

/// Delays of a goal's pushes after the goal, and the number of ends that have left.
///
/// `Sendable` is unchecked because a goal's moment is written before its event is handed in, and read when its pushes leave: the ways of the
/// event order the two.
final class GoalBoard: @unchecked Sendable {
    private struct Goal {
        var at: Int64 = 0
        var phase = Ends.Phase.alone
    }

    private struct Seen {
        var latency = [Histogram](repeating: Histogram(), count: Ends.Phase.allCases.count)
        var alerts = 0
        var ends = 0
        /// Monotonic nanoseconds of the newest end.
        var lastEndAt: Int64 = 0
        var tokenSum: UInt64 = 0
    }

    private let goals: UnsafeMutablePointer<Goal>
    private let followersOfMatch: Int
    private let seen = Locked(Seen())

    init(followersOfMatch: Int) {
        self.followersOfMatch = followersOfMatch
        goals = .allocate(capacity: Ends.matches)
        goals.initialize(repeating: Goal(), count: Ends.matches)
    }

    deinit { goals.deallocate() }

    var ends: Int { seen.withLock(\.ends) }

    func endsSeconds(since started: Int64) -> Double { Double(seen.withLock(\.lastEndAt) - started) / 1e9 }

    func latency(of phase: Ends.Phase) -> Histogram { seen.withLock { $0.latency[phase.rawValue] } }

    func begin(match: Int, in phase: Ends.Phase, at now: Int64) { goals[match] = Goal(at: now, phase: phase) }

    func note(_ batch: DeliveryBatch, at now: Int64) {
        let sum = batch.tokenSum
        seen.withLock { seen in
            seen.tokenSum &+= sum
            var start = 0
            while start < batch.deliveries.count {
                let run = batch.run(from: start)
                let payload = batch.payload(of: batch.deliveries[start])
                if payload.event == .end {
                    seen.ends += run.count
                    seen.lastEndAt = now
                } else if payload.alert != nil, let match = Int(payload.logLabel.dropFirst("match/".count)),
                    goals[match].at > 0
                {
                    seen.alerts += run.count
                    seen.latency[goals[match].phase.rawValue].record(now - goals[match].at, times: run.count)
                }
                start = run.upperBound
            }
        }
    }

    /// Waits until all goals so far have left for all followers of their matches.
    func wait(forGoals count: Int, _ seconds: Int) throws {
        let wanted = count * followersOfMatch
        for _ in 0..<seconds * 100 {
            if seen.withLock(\.alerts) >= wanted { break }
            usleep(10_000)
        }
        let alerts = seen.withLock(\.alerts)
        guard alerts == wanted else {
            throw BenchmarkFault("\(count) goals have left as \(alerts) alerts, and not \(wanted)")
        }
    }
}
