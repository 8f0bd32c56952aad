import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareTestSupport

@testable import CrashSimulation
@testable import Fanfare

/// An engine in one thread, driven by one seed. The inbox, the core's turns, the shards' turns and the rings between them are the real
/// ones, with so little room that they are often full. Threads are not scheduled for a while, the network fails, clocks are set. As on
/// a loop, a thread runs only after it was woken or its timer has fired.
///
/// `fanfare-sim` plays decisions and shards in all their cases; this plays the parts between them.
final class EngineWorld {
    /// The next event in the world.
    enum Action: CaseIterable {
        case event, follow, change, order, ask, stranger, report, flood, block, hang, setClock
        case runCore, takeFeedback, runShard, answer, sync, passTime

        var weight: Int {
            switch self {
            case .order, .stranger, .report, .setClock: 1
            case .flood, .block, .hang: 2
            case .ask: 4
            case .follow, .change: 5
            case .sync, .passTime: 8
            case .event, .runCore: 14
            case .takeFeedback: 12
            case .runShard, .answer: 24
            }
        }
    }

    var random: SplitMix64
    let clock = ManualClock()
    let inbox: Inbox
    let core: EngineCore
    let turn: CoreTurn
    let nodes: [WorldNode]
    /// Disk under the engine; `nil` without a store.
    let disk: ManualDisk?
    private let checkpointer: Checkpointer?
    private let restarts: RestartJudge
    let perApp: Int
    private let isTroubled: Bool
    /// Time that passes with each reading of the clock while a shard works.
    private let pace: Duration
    let requested = WorldWakeup()
    private let told: WorldWakeup
    /// The time at which the core's timer fires, monotonic nanoseconds.
    private var coreDue: MonotonicTime?
    private var coreIsHung = false
    /// Error of the machine's clock.
    private var isWrongBy = Duration.zero
    private var isCalm = false
    private(set) var isStopping = false
    /// The time at which all work was done, after a stop.
    private(set) var overAt: MonotonicTime?

    // Requests to the engine, and their results: `EngineWorld+Judge`.
    var apps: [App]
    var topics: [TopicID: Topic] = [:]
    var phones: [Phone] = []
    var questions: [Question] = []
    var sequence = 0
    var events = DecidedEvents()
    var phonesByToken: [[UInt8]: Int] = [:]
    var meanings: [[UInt8]: (topic: TopicID, number: Int)] = [:]
    var alertTopics: [String: TopicID] = [:]
    /// Log times at which alerts were granted.
    var alertTimes: [String: FeedTime] = [:]
    var strangers: [ActivityID: Int] = [:]
    var lines = ToldLines()
    var pauses = 0
    var everyIsPaused = false
    private(set) var violation: String?
    /// Called with a line for each event, for the search for a violation's cause.
    var onHappening: ((String) -> Void)?
    /// Counts of full queues and waits: a world in which nothing is ever full proves nothing.
    var met = Met()

    struct Met {
        var pushes = 0, congested = 0, heldUp = 0, refusals = 0, settled = 0, stops = 0, restarts = 0, claimed = 0
    }

    /// Actions of the world: only a disk syncs.
    private var actions: [Action] { Action.allCases.filter { $0 != .sync || disk != nil } }

    init(seed: UInt64, disk: ManualDisk? = nil) {
        self.disk = disk
        var random = SplitMix64(seed: seed)
        func power(_ range: ClosedRange<Int>) -> Int { 1 << Int.random(in: range, using: &random) }
        let room = WorldRoom(
            mailbox: power(3...6), commands: power(3...7), feedback: power(2...5), facts: power(2...4),
            streams: Int.random(in: 1...8, using: &random))
        var kind = TopicRules(
            alerts: .init(
                requested: AlertRule(.essential, burst: 1000, refill: .seconds(1), freshFor: .seconds(300))))
        if random.chance(0.5) { kind.pace.minimumInterval = .zero }
        let rules = Rules(kinds: [:], other: kind)
        let ids = [AppID(bundleID: "one"), AppID(bundleID: "two")].prefix(random.chance(0.5) ? 2 : 1)
        perApp = 2 / ids.count
        isTroubled = random.chance(0.7)
        pace = .milliseconds(random.chance(0.3) ? 1 : 0)
        let told = WorldWakeup()
        self.told = told
        let (clock, perApp, pace) = (clock, perApp, pace)
        let nodes = (0..<2).map {
            WorldNode(app: $0 / perApp, clock, room, pace: pace, lineups: rules.lineups, keepsClaims: disk != nil) {
                told.isSet = true
            }
        }
        self.nodes = nodes
        apps = ids.map { App(id: $0) }
        inbox = Inbox(capacity: room.mailbox, topicIDSizeMax: .bytes(256), hasStore: disk != nil)
        var join: (((ShardFeedback, Int) -> Void) -> Void)?
        core = EngineCore(
            rules: rules, shards: nodes.map(\.link), perApp: perApp, apps: Array(ids), isLive: true
        ) { join?($0) }
        var tell: ((String) -> Void)?
        let core = core
        if disk != nil { core.keepAlerts() }
        checkpointer = disk.flatMap { disk in
            let rules = LogRules(text: "")
            return try? Checkpointer(core, disk.log, sink: disk, rules: rules, interval: 1 + seed % 30)
        }
        restarts = RestartJudge {
            let core = EngineCore(
                rules: rules, shards: nodes.map { _ in ShardLink(ShardRings()) {} }, perApp: perApp, apps: Array(ids),
                isLive: true)
            core.keepAlerts()
            return core
        }
        turn = CoreTurn(
            core, inbox, clock: ThreadClock(clock.source), intake: disk?.intake, checkpointer: checkpointer
        ) { tell?($0) }
        self.random = random
        join = { [unowned self] in endShards($0) }
        tell = { [unowned self] in judge(line: $0) }
        turn.onOver = { [unowned self] in overAt = overAt ?? clock.now }
        disk?.onCheckpoint = { [weak checkpointer] in checkpointer?.end($0) }
        core.delegate = self
        for node in nodes {
            node.network.onPush = { [unowned self, unowned node] in judge($0, from: node) }
            node.network.onAnswer = { [unowned self] in note($1, to: $0) }
            node.onTurn = { [unowned self] in judge(turn: $0) }
        }
        for _ in 0..<3 { begin() }
        load()
    }

    /// - Returns: the violated condition, and the step of the violation.
    func play(steps: Int) -> String? {
        for step in 1...steps {
            perform(random.pick(actions, by: \.weight))
            met.congested += core.isCongested ? 1 : 0
            met.heldUp += nodes.count { $0.turn.shard.isFeedbackFull }
            if let violation = core.violation() { complain(violation) }
            if violation == nil, random.chance(0.004) { calm() }
            if let violation { return "step \(step): \(violation)" }
        }
        if random.chance(0.7) { stop() } else { calm() }
        if let violation = core.decisionCore.violation() { complain(violation) }
        judgeRestart()
        return violation.map { "after step \(steps): \($0)" }
    }

    /// Judges a restart from the newest checkpoint.
    private func judgeRestart() {
        guard let disk, let head = disk.log.memoryCheckpoints.kept.last?.head else { return }
        met.restarts += 1
        if let wrong = restarts.seen(head, of: disk) { complain(wrong) }
    }

    func complain(_ text: String) { violation = violation ?? text }

    private func perform(_ action: Action) {
        switch action {
        case .event: if random.chance(0.05) { begin() } else { happen() }
        case .follow: follow()
        case .change: change()
        case .order: order()
        case .ask: ask()
        case .stranger: speakOfAStranger()
        case .report: nodes.randomElement(using: &random)!.turn.report("nobody answers, \(random.next() % 3)")
        case .flood: flood()
        case .block:
            let node = nodes.randomElement(using: &random)!
            if node.network.isBlocked { node.unblock() } else { node.network.isBlocked = isTroubled }
        case .hang:
            let share = Int.random(in: 0...2, using: &random)
            if share == 2 { coreIsHung.toggle() } else { nodes[share].isHung.toggle() }
        case .setClock:
            let wrong = Duration.seconds(Int.random(in: -7200...7200, using: &random))
            clock.set(by: wrong - isWrongBy)
            isWrongBy = wrong
        case .runCore: _ = runCore()
        case .takeFeedback: _ = takeFeedback()
        case .runShard: _ = nodes.randomElement(using: &random)!.run()
        case .answer: answer(nodes.randomElement(using: &random)!)
        case .sync: _ = sync()
        case .passTime: clock.pass(.milliseconds(Int.random(in: 1...2000, using: &random)))
        }
    }

    // MARK: Turns

    /// Runs the core's loop if a request, room in a ring, or its timer has woken it.
    func runCore() -> Bool {
        guard !coreIsHung, overAt == nil, requested.isSet || coreDue.map({ $0 <= clock.now }) == true else {
            return false
        }
        requested.isSet = false
        coreDue = nil
        onHappening?("the core runs")
        switch turn.run() {
        case .again: requested.isSet = true
        case .after(let wait): coreDue = wait.map { clock.now + $0 }
        }
        return true
    }

    /// Lets the disk make durable what waits for it, which wakes the core.
    private func sync() -> Bool {
        guard overAt == nil, disk?.sync() == true else { return false }
        onHappening?("the disk syncs")
        requested.isSet = true
        told.isSet = true
        return true
    }

    /// Runs the core's loop if a shard has woken it.
    private func takeFeedback() -> Bool {
        guard !coreIsHung, overAt == nil, told.isSet else { return false }
        told.isSet = false
        onHappening?("the core hears")
        for (ticket, shard) in disk?.takeConfirmed() ?? [] { core.confirmClaims(ticket, shard: shard) }
        core.takeFeedback()
        return true
    }

    private func answer(_ node: WorldNode) {
        guard !node.isHung, let index = node.network.flights.indices.randomElement(using: &random) else { return }
        node.answer(index, outcome(of: node.network.flights[index]))
    }

    private func outcome(of flight: WorldNetwork.Flight) -> DeliveryOutcome {
        guard isTroubled, !isCalm else { return .accepted }
        let mayDie = phonesByToken[flight.token].map { phones[$0].tokens.count == 1 } == true
        // The last pushes of a stop get dead-token answers, too, which must be reported.
        if isStopping, mayDie, random.chance(0.5) { return .deadToken }
        switch random.next() % 100 {
        case 0..<8: return .notProcessed
        case 8..<12: return .uncertain
        case 12..<15: return .throttled
        case 15..<18: return .serviceError
        case 18..<20: return .refused
        case 20: return mayDie ? .deadToken : .accepted
        default: return .accepted
        }
    }

    /// Runs the woken threads until none is woken, and answers every push.
    ///
    /// - Parameter answering: whether pushes that leave meanwhile are answered, too, and not only those in flight already.
    private func runAll(answering: Bool = true) {
        for node in nodes where !answering {
            for _ in node.network.flights.indices { node.answer(0, outcome(of: node.network.flights[0])) }
        }
        for _ in 0..<20_000 {
            var isBusy = runCore()
            if sync() { isBusy = true }
            if takeFeedback() { isBusy = true }
            // The core's loop has ended.
            if overAt != nil { return }
            for node in nodes {
                if node.run() { isBusy = true }
                guard answering, !node.network.flights.isEmpty else { continue }
                node.answer(0, outcome(of: node.network.flights[0]))
                isBusy = true
            }
            if !isBusy || violation != nil { return }
        }
        complain("somebody is woken again and again")
    }

    private func passToNextTimer(before end: MonotonicTime) {
        let next = ([coreDue] + nodes.map(\.nextDue)).compactMap(\.self).min() ?? end
        clock.pass(max(.nanoseconds(1), min(next, end) - clock.now))
    }

    /// Schedules all threads and answers all pushes: every phone soon has its newest state.
    func calm() {
        beCalm()
        // A token's own backoff is 64 seconds at most, plus one half.
        let end = clock.now + .seconds(130)
        while violation == nil {
            runAll()
            let missing = missing() ?? unanswered()
            if missing == nil { break }
            if clock.now >= end { return complain("in a calm \(missing ?? "")") }
            passToNextTimer(before: end)
        }
        for index in phones.indices { phones[index].oldTokens = phones[index].tokens.count - 1 }
        isCalm = false
        if violation == nil, !isStopping, random.chance(0.3) { settleWhileBusy() }
        if violation == nil, !isStopping, random.chance(0.3) { fallBehind() }
    }

    private func beCalm() {
        isCalm = true
        coreIsHung = false
        for node in nodes {
            node.isHung = false
            node.unblock()
        }
    }

    /// Checks that a settle is answered although a push is in flight at every moment.
    private func settleWhileBusy() {
        isCalm = true
        defer { isCalm = false }
        happen()
        settle(until: .never)
        let asked = questions.count
        for _ in 0..<40 where violation == nil {
            happen()
            runAll(answering: false)
            clock.pass(.milliseconds(200))
        }
        if questions.prefix(asked).contains(where: { $0.answers == 0 }) {
            complain("a settle waits for what came after it")
        }
    }

    /// Checks that the work of a shard that was not scheduled for a while grows with the topics, not with their versions.
    private func fallBehind() {
        guard pace > .zero, core.flushesUntil == nil, disk == nil else { return }
        isCalm = true
        defer { isCalm = false }
        nodes[0].isHung = true
        for _ in 0..<200 where !core.isCongested {
            happen(silently: true)
            _ = runCore()
        }
        nodes[0].isHung = false
        let before = clock.now
        while nodes[0].run() {}
        let took = clock.now - before
        if took > pace * (30 + 4 * topics.count) { complain("versions that nobody will see took a shard \(took)") }
    }

    // MARK: Stopping

    private func stop() {
        met.stops += 1
        let isWell = random.chance(0.5)
        if isWell {
            calm()
            for _ in 0..<20 { happen() }
            ask()
            beCalm()
        }
        isStopping = true
        let timeout =
            isWell ? .seconds(10) : Duration.milliseconds([0, 50, 1000, 10_000].randomElement(using: &random)!)
        let deadline = clock.now + timeout
        inbox.stop(by: deadline)
        requested.isSet = true
        coreIsHung = false
        if inbox.post(.confirmDeadTokens) != .stopped { complain("something is taken after a stop") }
        while violation == nil, overAt == nil {
            runAll(answering: isWell)
            if overAt != nil { break }
            if clock.now >= deadline { return complain("a stop outlasts its deadline") }
            passToNextTimer(before: deadline)
        }
        guard violation == nil else { return }
        // The shards' threads go on until they are told to stop.
        for _ in 0..<20 { answer(nodes.randomElement(using: &random)!) }
        core.stop(within: turn.timeLeft)
        for node in nodes where !node.hasStopped { complain("a shard has not stopped") }
        if events.waiting != 0 { complain("a stop leaves events undecided") }
        if let missing = unanswered() ?? deathUntold() { complain("after a stop \(missing)") }
        if isWell, let missing = missing() { complain("after a stop with time enough \(missing)") }
        if isWell, clock.now >= deadline { complain("a stop waits for nobody") }
        if isWell, let disk, !disk.intake.isIdle { complain("a stop leaves rows of cards that are over") }
    }

    /// Waits for the shards' threads, as the core's thread does.
    private func endShards(_ take: (ShardFeedback, _ shard: Int) -> Void) {
        for node in nodes { node.isHung = false }
        let end = clock.now + turn.timeLeft
        while nodes.contains(where: { !$0.hasStopped }), violation == nil {
            for node in nodes { while node.run() {} }
            for node in nodes where !node.hasStopped && !node.network.isBlocked { answer(node) }
            if clock.now > end + .milliseconds(100) {
                return complain("the shards outlast the deadline")
            }
            if nodes.contains(where: { !$0.hasStopped }) { clock.pass(.milliseconds(1)) }
        }
        for (index, node) in nodes.enumerated() {
            let rest = node.turn.takeFeedback()
            node.link.drainFeedback { take($0, index) }
            for fact in rest { take(fact, index) }
        }
    }
}

extension SplitMix64 {
    fileprivate mutating func pick<Choice>(_ choices: [Choice], by weight: (Choice) -> Int) -> Choice {
        var left = Int.random(in: 0..<choices.reduce(0) { $0 + weight($1) }, using: &self)
        return choices.first {
            left -= weight($0)
            return left < 0
        }!
    }
}
