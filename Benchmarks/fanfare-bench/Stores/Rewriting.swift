import Dispatch
import Fanfare
import FanfareLog
import FanfareLoop
import FanfareModel
import Glibc
import Synchronization

/// Events until they are durable, while rows of the people are rewritten at a fixed rate.
enum Rewriting {
    private static let topics = 10_000
    private static let callers = [1, 100, 10_000]
    /// Share of the rate that must have been taken: the rest may be on its way.
    private static let takenMin = 0.9

    static func measure(_ sizes: StoreSizes) throws -> Figures {
        try TemporaryStore.make(in: sizes.folder) { try measure(sizes, $0) }
    }

    private static func measure(_ sizes: StoreSizes, _ store: TemporaryStore) throws -> Figures {
        // Nothing is sent while rows are rewritten: the people's topic has nothing to show.
        try store.importPeople(sizes.people) { _ in TopicID("match/1") }
        let board = TopicNumbers(count: topics)
        var figures = Figures()
        figures.note("people", sizes.people)
        figures.note("rows_wanted_per_s", sizes.rate)
        // Rows are rewritten beside an engine that has nothing else to do.
        let engine = try Engine.loaded(with: sizes.people, of: store.folder, &figures)
        _ = try finished { try await Durability.begin(engine, board) }
        let rows = try RewrittenRows(engine, people: sizes.people, rate: sizes.rate)
        var tooSlow: BenchmarkFault?
        for callers in callers where tooSlow == nil {
            let (before, since) = (rows.count, Clock.monotonicNanoseconds())
            let seen = try finished {
                try await Durability.load(engine, board, callers: callers, seconds: sizes.seconds)
            }
            let taken = Double(rows.count - before) / (Double(Clock.monotonicNanoseconds() - since) / 1e9)
            seen.write("events", "callers_\(callers)_", to: &figures)
            figures.note("callers_\(callers)_rows_per_s", taken.rounded())
            // Beside many callers the events may take the disk's time.
            guard callers == 1, taken < takenMin * Double(sizes.rate) else { continue }
            tooSlow = BenchmarkFault(
                "beside \(callers) callers the engine took \(Int(taken)) rows of \(sizes.rate) a second; give a lower --rate, or measure "
                    + "on a quicker disk. So far: \(figures.json)")
        }
        try rows.stop()
        figures.note("rows", rows.count)
        try finished { try await engine.end() }
        if let tooSlow { throw tooSlow }
        try rows.check(store)
        try Durability.check(store, board)
        return figures
    }
}

/// Rows that a thread rewrites at a fixed rate, whether the disk keeps up or not: of one person after the other, tokens and
/// preferences in turns.
///
/// `Sendable` is unchecked because the thread alone uses the expected rows until it has ended.
private final class RewrittenRows: @unchecked Sendable {
    private struct Expected {
        var edition: UInt32 = 0
        var preferences: Preferences?
    }

    private let engine: Engine
    private let people: Int
    private let rate: Int
    /// Distance between two people whose rows follow one another, so that they are in other pages. It has no divisor in common with the number
    /// of people.
    private let stride: Int
    private var expected: [Expected]
    private let taken = Atomic(0)
    private let isStopped = Atomic(false)
    private let fault = Locked<String?>(nil)
    private let end = DispatchSemaphore(value: 0)

    /// Changes that the engine has taken.
    var count: Int { taken.load(ordering: .relaxed) }

    init(_ engine: Engine, people: Int, rate: Int) throws {
        (self.engine, self.people, self.rate) = (engine, people, rate)
        stride = RewrittenRows.stride(of: people)
        expected = Array(repeating: Expected(), count: people)
        try DetachedThread.run(name: "rows") { [self] in
            run()
            end.signal()
        }
    }

    private static func stride(of people: Int) -> Int {
        var stride = max(1, people * 618 / 1000)
        func divisor(_ a: Int, _ b: Int) -> Int { b == 0 ? a : divisor(b, a % b) }
        while divisor(stride, people) != 1 { stride += 1 }
        return stride
    }

    private func run() {
        let started = Clock.monotonicNanoseconds()
        var number = 0
        while !isStopped.load(ordering: .relaxed) {
            let due = Int((Clock.monotonicNanoseconds() - started) * Int64(rate) / 1_000_000_000)
            while number < due {
                let (command, row) = change(number)
                let admission = engine.offer(command)
                if case .full = admission { break }
                guard admission.isTaken else {
                    fault.withLock { $0 = "the engine refuses change \(number) of a row: \(admission)" }
                    return
                }
                expected[person(number)] = row
                number += 1
                taken.store(number, ordering: .relaxed)
            }
            usleep(1000)
        }
    }

    private func person(_ number: Int) -> Int { number % people * stride % people }

    /// Returns the command of a change, and the row after it.
    private func change(_ number: Int) -> (Engine.Command, Expected) {
        let person = Person(person(number))
        var row = expected[person.number]
        guard number.isMultiple(of: 2) else {
            let preferences = Preferences(alerts: row.preferences?.alerts == .essential ? .none : .essential)
            row.preferences = preferences
            return (.setPreferences(preferences, activity: person.activity, subscriber: person.subscriber), row)
        }
        row.edition += 1
        let token = person.token(edition: Int(row.edition))
        return (.replaceToken(activity: person.activity, subscriber: person.subscriber, with: token), row)
    }

    /// Ends the thread.
    func stop() throws {
        isStopped.store(true, ordering: .relaxed)
        end.wait()
        if let fault = fault.withLock({ $0 }) { throw BenchmarkFault(fault) }
    }

    /// Compares each row of the store with what the changes have made of it.
    func check(_ store: TemporaryStore) throws {
        var (rows, wrong) = (0, 0)
        try store.readPeople { number, card in
            rows += 1
            let row = expected[number]
            if card.token != Person(number).token(edition: Int(row.edition)) || card.preferences != row.preferences {
                wrong += 1
            }
        }
        guard rows == people, wrong == 0 else {
            throw BenchmarkFault(
                "the store has \(rows) rows of \(people) people, \(wrong) of them not as they were rewritten")
        }
    }
}
