import APNsSimulator
import FanfareLoop
import FanfareModel
import Foundation

/// Rounds of a program that is killed: it starts, takes requests, and is killed in a phase that the seed has chosen. After the last round
/// it is started once more and lives until everything has arrived. Keeps the acknowledgements.
package final class Rounds {
    package struct Options: Sendable {
        package var rounds = 30
        package var seed: UInt64 = 1
        /// Acknowledgements after which a round's program may be killed.
        package var acknowledgements = 1000
        /// Time after which no further round begins.
        package var seconds = Int.max / 1_000_000_000
        package var fault: Fault?
        package var folder = ""

        package init() {}
    }

    private let options: Options
    private let service: Service
    private let marks: PhaseMarks
    private let programOptions: Program.Options
    private var random: SplitMix64
    private var load: Load
    private let appeared = Locked<[Int]>([])
    private var child: Child?
    private(set) var acknowledgements: [Int] = []
    private(set) var misses = 0

    /// Requests on their way at a time.
    private static let window = 200
    /// Time for which a phase is waited for. A kill that misses it counts as one of another phase.
    private static let huntMilliseconds = 3000

    package init(_ options: Options) throws {
        self.options = options
        random = SplitMix64(seed: options.seed ^ 0x5EED)
        load = Load(seed: options.seed)
        service = try Service(
            folder: options.folder,
            // Answers that take a while, and few streams: sweeps and starts last long enough to be met.
            options: ["--latency", "1..4", "--max-streams", "100", "--seed", "\(options.seed)"]
        ) { [appeared] push in
            if push.isStart { appeared.withLock { $0.append(Names.card(of: push.token)) } }
        }
        marks = try PhaseMarks(file: options.folder + "/marks")
        var program = Program.Options()
        program.folder = options.folder + "/store"
        program.marks = options.folder + "/marks"
        program.port = service.port
        program.certificates = service.certificates
        program.fault = options.fault
        programOptions = program
    }

    /// - Returns: what happened, and the simulator's dump.
    package func run(report: (String) -> Void) throws -> (history: History, dump: String) {
        let began = Clock.monotonicNanoseconds()
        for round in 1...options.rounds {
            if (Clock.monotonicNanoseconds() - began) / 1_000_000_000 >= options.seconds { break }
            try play(round)
            if round.isMultiple(of: 50) { report("\(round) rounds") }
        }
        try end()
        let dump = options.folder + "/dump.ndjson"
        try service.dump(to: dump)
        return (load.history, dump)
    }

    /// Counts for people, beside the judge's.
    package var summary: String {
        let kinds = load.acknowledged.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return "acknowledged: \(kinds.joined(separator: ", ")); at least \(acknowledgements.min() ?? 0) a round; "
            + "\(misses) kills missed the phase that they were to meet\nsimulator: \(service.summary)"
    }

    // MARK: A round

    private func play(_ round: Int) throws {
        let (early, late) = Aim.drawn(&random)
        if let early {
            try start(round)
            hunt(early)
            // A delay that leads into the phase.
            usleep(UInt32.random(in: 0..<3000, using: &random))
            try crash(aim: early)
        }
        try start(round)
        try waitUntilReady()
        for repeated in load.repeats(most: 40) { child?.send(repeated.number, repeated.request) }
        var count = try exchange(Int.random(in: 0..<options.acknowledgements / 2, using: &random))
        let settle = load.ask(.settle)
        child?.send(settle.number, settle.request)
        // In half of the rounds, what is acknowledged behind an answer is all that a kill may interrupt.
        let isAnswered = random.chance(0.5)
        count += try exchange(options.acknowledgements - count)
        while isAnswered, load.isWaiting(for: settle.number) {
            count += try exchange(within: 5)
        }
        count += try pursue(late)
        try crash(aim: late)
        acknowledgements.append(count)
    }

    /// Goes on with the load for so many acknowledgements.
    private func exchange(_ wanted: Int) throws -> Int {
        var count = 0
        while count < wanted { count += try exchange(within: 5) }
        return count
    }

    private func start(_ round: Int, isQuiet: Bool = false) throws {
        marks.clear()
        load.begin(round: round, at: Clock.monotonicNanoseconds(), isQuiet: isQuiet)
        child = try Child(programOptions.arguments, log: options.folder + "/program.log")
    }

    private func waitUntilReady() throws(CrashError) {
        while true {
            guard let answers = child?.receive(within: 60_000), !answers.isEmpty else {
                throw CrashError("life \(load.history.lives.count - 1): the program does not begin")
            }
            for answer in answers where answer.words.first != "ready" && answer.words.first != "uncertain" {
                throw CrashError("life \(load.history.lives.count - 1): \(answer.words.joined(separator: " "))")
            }
            _ = take(answers)
            if answers.contains(where: { $0.words.first == "ready" }) { return }
        }
    }

    /// Waits until the program is in the phase, for the given time at most.
    private func hunt(_ aim: Aim) {
        let deadline = Clock.monotonicNanoseconds() + Int64(Rounds.huntMilliseconds) * 1_000_000
        while !aim.phases.contains(where: marks.isIn), Clock.monotonicNanoseconds() < deadline { sched_yield() }
    }

    /// Goes on with the load until the program is in the phase.
    ///
    /// - Returns: acknowledgements meanwhile.
    private func pursue(_ aim: Aim) throws -> Int {
        var count = 0
        guard aim != .anywhere else {
            let more = Int.random(in: 0..<200, using: &random)
            while count < more { count += try exchange(within: 1) }
            return count
        }
        // Not always the first time, and not always at once.
        var skips = Int.random(in: 0..<4, using: &random)
        let deadline = Clock.monotonicNanoseconds() + Int64(Rounds.huntMilliseconds) * 1_000_000
        while Clock.monotonicNanoseconds() < deadline {
            count += try exchange(within: 0)
            guard aim.phases.contains(where: marks.isIn) else { continue }
            if skips == 0 {
                if aim == .sweep || aim == .start || aim == .checkpoint {
                    usleep(UInt32.random(in: 0..<1500, using: &random))
                    guard aim.phases.contains(where: marks.isIn) else { continue }
                }
                return count
            }
            skips -= 1
            while aim.phases.contains(where: marks.isIn), Clock.monotonicNanoseconds() < deadline {
                count += try exchange(within: 0)
            }
        }
        return count
    }

    /// Hands in what there is room for, and takes answers.
    ///
    /// - Returns: number of acknowledgements.
    private func exchange(within milliseconds: Int32) throws -> Int {
        takeAppeared()
        while load.waiting < Rounds.window, let (number, request) = load.next(at: Clock.monotonicNanoseconds()) {
            child?.send(number, request)
        }
        guard let answers = child?.receive(within: milliseconds) else {
            let status = child?.reap() ?? 0
            throw CrashError("life \(load.history.lives.count - 1): the program ended by itself, status \(status)")
        }
        return take(answers)
    }

    private func take(_ answers: [(number: Int, words: ArraySlice<Substring>)]) -> Int {
        let now = Clock.monotonicNanoseconds()
        var count = 0
        for answer in answers {
            if answer.number > 0 {
                load.take(Answer(answer.words), to: answer.number, at: now)
                count += 1
            } else if answer.words.first == "uncertain", let name = answer.words.last {
                load.noteUncertain(Names.card(named: name) ?? -1)
            }
        }
        return count
    }

    /// Takes starts that have arrived on phones.
    private func takeAppeared() {
        let cards = appeared.withLock { cards in
            defer { cards = [] }
            return cards
        }
        for card in cards { load.appear(card) }
    }

    private func crash(aim: Aim) throws {
        child?.crash()
        _ = child?.reap()
        let phases = marks.current
        if aim != .anywhere, !aim.phases.contains(where: phases.contains) { misses += 1 }
        // Answers that the program had written by then.
        while let answers = child?.receive(within: 1000) { _ = take(answers) }
        child = nil
        try service.drain()
        takeAppeared()
        load.killed(in: phases)
    }

    // MARK: The end

    private func end() throws {
        try start(acknowledgements.count + 1)
        try waitUntilReady()
        load.isEnding = true
        // First what the kill has left, which may be a pause.
        try finish([])
        try finish(load.release(at: Clock.monotonicNanoseconds()))
        try finish(load.repeats(most: 2000))
        try finish([load.ask(.settle)])
        try finish(load.lastChanges())
        try finish([load.ask(.settle)])
        // Cards whose starts waited for these changes join now. With several shards a completion speaks of those who joined before the
        // topic's last version, in an earlier millisecond: the topics change once more.
        takeAppeared()
        try finish([])
        _ = try exchange(within: 5)
        try finish(load.lastChanges())
        try finish([load.ask(.settle)])
        try stop()
        // Whoever starts the program once more has nothing to say to anybody.
        try start(acknowledgements.count + 2, isQuiet: true)
        try waitUntilReady()
        try finish([load.ask(.settle)])
        try stop()
    }

    /// Ends the program in order.
    private func stop() throws {
        let stop = load.ask(.stop)
        child?.send(stop.number, stop.request)
        while let answers = child?.receive(within: 90_000), !answers.isEmpty {
            for answer in answers {
                let told = Answer(answer.words)
                if case .stopped(let owed, let unstored) = told, owed + unstored > 0 {
                    load.complain("the last program stops and owes \(owed), unstored \(unstored)")
                }
                load.take(told, to: answer.number, at: Clock.monotonicNanoseconds())
            }
        }
        if let status = child?.reap(), status != 0 { load.complain("the last program ended with \(status)") }
        child = nil
        try service.drain()
    }

    /// Hands in requests and waits until nothing is on its way.
    private func finish(_ requests: [(number: Int, request: Request)]) throws {
        for request in requests { child?.send(request.number, request.request) }
        let deadline = Clock.monotonicNanoseconds() + 120_000_000_000
        while !load.isIdle {
            _ = try exchange(within: 10)
            guard Clock.monotonicNanoseconds() < deadline else {
                throw CrashError("the last program leaves \(load.waiting) requests without an answer")
            }
        }
    }
}
