import APNsSimulator
import FanfareLoop
import FanfareModel
import Foundation

/// Rounds of a program that is killed: it starts, takes requests, and is killed in a phase that the seed has chosen. After the last round
/// it is started once more and lives until everything has arrived. Some lives lack an app, some meet a full disk, and between some an operator
/// inspects the store. Keeps the acknowledgements.
package final class Rounds {
    private let options: RoundsOptions
    private let services: [CardApp: Service]
    private let storeOperator: StoreOperator
    private let marks: PhaseMarks
    private let programOptions: Program.Options
    private var random: SplitMix64
    private var load: Load
    private let appeared = Locked<[Int]>([])
    private var child: Child?
    private(set) var acknowledgements: [Int] = []
    private var misses = AimMisses()
    private var disks = FullDisks()
    private var inspections = 0

    /// Requests on their way at a time.
    private static let window = 200
    /// Time for which a phase is waited for. A kill that misses it counts as one of another phase.
    private static let huntMilliseconds = 3000
    /// A round in three lacks the second app. It comes back in the next one, usually before the topics of its cards are forgotten.
    private static let absenceInterval = 3
    /// In a round in four the disk is full for a while, and in half of these until the kill.
    private static let fullDiskInterval = 4
    /// Share of the rounds that an operator follows.
    private static let inspectionShare = 0.3
    /// Times for which a disk is full: too short for alerts to leave without their claims.
    private static let fullMilliseconds = 100..<900

    package init(_ options: RoundsOptions) throws {
        self.options = options
        random = SplitMix64(seed: options.seed ^ 0x5EED)
        load = Load(seed: options.seed)
        storeOperator = try StoreOperator(folder: options.folder)
        let certificates = options.folder + "/certificates"
        try Service.makeCertificates(in: certificates)
        var services: [CardApp: Service] = [:]
        for app in CardApp.allCases {
            services[app] = try Service(
                of: app, certificates: certificates,
                // Answers that take a while, and few streams: sweeps and starts last long enough to be met.
                options: ["--latency", "1..4", "--max-streams", "100", "--seed", "\(options.seed)"]
            ) { [appeared] push in
                if push.isStart { appeared.withLock { $0.append(Names.card(of: push.token)) } }
            }
        }
        self.services = services
        marks = try PhaseMarks(file: options.folder + "/marks")
        var program = Program.Options()
        program.folder = options.folder + "/store"
        program.marks = options.folder + "/marks"
        program.ports = services.mapValues(\.port)
        program.certificates = certificates
        program.fault = options.fault
        programOptions = program
    }

    /// - Returns: what happened, and the simulators' dumps.
    package func run(report: (String) -> Void) throws -> (history: History, dumps: [CardApp: String]) {
        let began = Clock.monotonicNanoseconds()
        for round in 1...options.rounds {
            if (Clock.monotonicNanoseconds() - began) / 1_000_000_000 >= options.seconds { break }
            try play(round)
            if round.isMultiple(of: 50) { report("\(round) rounds") }
        }
        try end()
        var dumps: [CardApp: String] = [:]
        for (app, service) in services {
            let file = options.folder + "/dump-\(app).ndjson"
            try service.dump(to: file)
            dumps[app] = file
        }
        return (load.history, dumps)
    }

    /// Counts for people, beside the judge's.
    package var summary: String {
        let kinds = load.acknowledged.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return "acknowledged: \(kinds.joined(separator: ", ")); at least \(acknowledgements.min() ?? 0) a round; "
            + "\(misses.text)\n"
            + "\(keySummary)\n"
            + "\(disks.count) full disks, of which \(disks.held) held requests back and \(disks.kills) were full at the kill; "
            + "\(inspections) inspections by an operator\n"
            + CardApp.allCases.map { "simulator of the \($0) app: \(services[$0]?.summary ?? "")" }.joined(
                separator: "\n")
    }

    private var keySummary: String {
        "idempotency keys: \(load.keyed.repeats) acknowledged calls were repeated, and \(load.keyed.lost) calls were known whose answers a kill "
            + "had swallowed"
    }

    /// Counts of the situations that a run has met, beside the judge's counts; empty if the run was too short to meet all of them.
    package var met: [(String, Int)] {
        guard acknowledgements.count >= Aim.period else { return [] }
        return [
            ("full disk that holds requests back", disks.held), ("kill under a full disk", disks.kills),
            ("inspection by an operator", inspections), ("repeated call with a key", load.keyed.repeats),
            ("known call whose answer a kill had swallowed", load.keyed.lost),
        ]
    }

    // MARK: A round

    private func play(_ round: Int) throws {
        // The seed decides which rounds these are.
        let place = round + Int(options.seed % UInt64(Aim.period))
        let (early, late) = Aim.drawn(&random, place: place)
        let apps: Set<CardApp> = place.isMultiple(of: Rounds.absenceInterval) ? [.first] : Set(CardApp.allCases)
        if let early {
            try start(round, apps)
            hunt(early)
            // A delay that leads into the phase.
            usleep(UInt32.random(in: 0..<3000, using: &random))
            try crash(aim: early)
        }
        try start(round, apps)
        try waitUntilReady()
        for repeated in load.repeats(most: 40) + load.keyedRepeats(most: 40) {
            child?.send(repeated.number, repeated.request)
        }
        var count = try exchange(Int.random(in: 0..<options.acknowledgements / 2, using: &random))
        let settle = send(.settle)
        // In half of the rounds, what is acknowledged behind an answer is all that a kill may interrupt.
        let isAnswered = random.chance(0.5)
        count += try exchange(options.acknowledgements - count)
        while isAnswered, load.requests.isWaiting(for: settle) {
            count += try exchange(within: 5)
        }
        if place.isMultiple(of: Rounds.fullDiskInterval) {
            count += try fillDisk(isFreed: place.isMultiple(of: 2 * Rounds.fullDiskInterval))
        }
        let aim = disks.fullSince == nil ? late : .anywhere
        if disks.fullSince == nil { count += try pursue(late) }
        try crash(aim: aim)
        acknowledgements.append(count)
        if random.chance(Rounds.inspectionShare) { try inspect() }
    }

    /// Goes on with the load while no file can grow.
    ///
    /// - Parameter isFreed: `true` if the disk is free again at the end.
    /// - Returns: number of acknowledgements.
    private func fillDisk(isFreed: Bool) throws -> Int {
        let milliseconds = Int.random(in: Rounds.fullMilliseconds, using: &random)
        let asked = Clock.monotonicNanoseconds()
        let filled = send(.disk(isFull: true))
        var count = 0
        while load.requests.isWaiting(for: filled) { count += try exchange(within: 1) }
        let began = Clock.monotonicNanoseconds()
        disks.begin(at: began, askedAt: asked)
        while (Clock.monotonicNanoseconds() - began) / 1_000_000 < milliseconds {
            let more = try exchange(within: 5)
            disks.note(more, at: Clock.monotonicNanoseconds())
            count += more
        }
        if isFreed {
            send(.disk(isFull: false))
            disks.end()
        }
        return count
    }

    /// Asks for something beside the load.
    @discardableResult private func send(_ request: Request) -> Int {
        let asked = load.ask(request)
        child?.send(asked.number, asked.request)
        return asked.number
    }

    /// Lets an operator inspect the store of a program that is not there.
    private func inspect() throws {
        inspections += 1
        let cards = load.history.storedCards
        for complaint in try storeOperator.inspect(expecting: cards) {
            load.complain("operator after life \(load.history.lives.count - 1): \(complaint)")
        }
    }

    /// Goes on with the load for so many acknowledgements.
    private func exchange(_ wanted: Int) throws -> Int {
        var count = 0
        while count < wanted { count += try exchange(within: 5) }
        return count
    }

    private func start(
        _ round: Int, _ apps: Set<CardApp> = Set(CardApp.allCases), isQuiet: Bool = false
    ) throws {
        marks.clear()
        load.begin(round: round, at: Clock.monotonicNanoseconds(), apps: apps, isQuiet: isQuiet)
        var options = programOptions
        options.ports = options.ports.filter { apps.contains($0.key) }
        let folder = self.options.folder
        child = try Child(options.arguments, log: folder + "/program.log", exchange: folder + "/exchange.log")
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
        while load.requests.count < Rounds.window, let (number, request) = load.next(at: Clock.monotonicNanoseconds()) {
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
        let unclaimed = disks.kill()
        child?.crash()
        _ = child?.reap()
        let phases = marks.current
        misses.note(aim, metIn: phases)
        // Answers that the program had written by then.
        while let answers = child?.receive(within: 1000) { _ = take(answers) }
        child = nil
        for service in services.values { try service.drain() }
        takeAppeared()
        load.killed(in: phases, unclaimedNanoseconds: unclaimed)
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
        try finish(load.keyedRepeats(most: KeyedRequests.keptMax))
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
        // The program that starts once more has nothing to push.
        try start(acknowledgements.count + 2, isQuiet: true)
        try waitUntilReady()
        try finish([load.ask(.settle)])
        try stop()
        try inspect()
    }

    /// Ends the program in order.
    private func stop() throws {
        send(.stop)
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
        for service in services.values { try service.drain() }
    }

    /// Hands in requests and waits until nothing is on its way.
    private func finish(_ requests: [(number: Int, request: Request)]) throws {
        for request in requests { child?.send(request.number, request.request) }
        let deadline = Clock.monotonicNanoseconds() + 120_000_000_000
        while !load.isIdle {
            _ = try exchange(within: 10)
            guard Clock.monotonicNanoseconds() < deadline else {
                throw CrashError("the last program leaves \(load.requests.count) requests without an answer")
            }
        }
    }
}
