import Fanfare
import FanfareLoop
import FanfareModel

/// Events until they are durable: callers in closed loops, whose topics nobody follows.
enum Durability {
    private static let callers = [1, 100, 10_000]
    private static let topics = 10_000

    static func measure(_ sizes: StoreSizes) throws -> Figures {
        try TemporaryStore.make(in: sizes.folder) { try measure(sizes, $0) }
    }

    private static func measure(_ sizes: StoreSizes, _ store: TemporaryStore) throws -> Figures {
        let board = TopicNumbers(count: topics)
        var figures = Figures()
        figures.note("topics", topics)
        let engine = try Engine(benchmarking: store.folder)
        try finished { _ = try await begin(engine, board) }
        for callers in callers {
            let seen = try finished { try await load(engine, board, callers: callers, seconds: sizes.seconds) }
            seen.write("events", "callers_\(callers)_", to: &figures)
        }
        try finished { try await engine.end() }
        try check(store, board)
        return figures
    }

    /// Gives each topic its first event.
    static func begin(_ engine: Engine, _ board: TopicNumbers) async throws -> Callers {
        try await Callers.run(board.count) { caller, turn in
            turn == 0 ? try await board.ingest(into: engine, topic: caller) : nil
        }
    }

    /// Hands in events for so many seconds. The topics are divided among the callers.
    static func load(
        _ engine: Engine, _ board: TopicNumbers, callers: Int, seconds: Int
    ) async throws -> Callers {
        let until = Clock.monotonicNanoseconds() + Int64(seconds) * 1_000_000_000
        return try await Callers.run(callers) { caller, turn in
            guard Clock.monotonicNanoseconds() < until else { return nil }
            return try await board.ingest(into: engine, topic: caller + turn % (board.count / callers) * callers)
        }
    }

    /// Starts another engine on the store, and compares what each topic shows with the last event whose receipt said that it is durable.
    static func check(_ store: TemporaryStore, _ board: TopicNumbers) throws {
        let engine = try Engine(benchmarking: store.folder)
        try finished {
            for topic in 0..<board.count {
                let state = try await engine.topicState(TopicNumbers.id(topic))?.contentState
                guard let number = state?["number"]?.doubleValue, Int(number) == board[topic] else {
                    throw BenchmarkFault(
                        "topic \(topic) had event \(board[topic]) durable, and shows \(state.map { "\($0)" } ?? "nothing") after a restart"
                    )
                }
            }
            try await engine.end()
        }
    }
}

/// Number of the last durable event of each topic.
///
/// `Sendable` is unchecked because one caller at a time has a topic, and alone reads and writes its number.
final class TopicNumbers: @unchecked Sendable {
    let count: Int
    private let numbers: UnsafeMutablePointer<Int>

    init(count: Int) {
        self.count = count
        numbers = .allocate(capacity: count)
        numbers.initialize(repeating: 0, count: count)
    }

    deinit { numbers.deallocate() }

    subscript(topic: Int) -> Int { numbers[topic] }

    static func id(_ topic: Int) -> TopicID { TopicID("order/\(topic)") }

    /// Hands in the topic's next event, and waits until it is durable.
    func ingest(into engine: Engine, topic: Int) async throws -> Receipt {
        let number = numbers[topic] + 1
        let receipt = try await engine.ingest(
            FeedEvent(
                topic: TopicNumbers.id(topic), topicKind: .generic,
                at: FeedTime(milliseconds: Clock.wallMilliseconds()),
                seq: UInt64(number), kind: "patch", change: .patch(["number": .int(Int64(number))])))
        numbers[topic] = number
        return receipt
    }
}
