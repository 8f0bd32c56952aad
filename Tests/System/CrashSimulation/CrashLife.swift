import Fanfare
import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareRules
import FanfareTestSupport

/// One life of the engine.
final class CrashLife: EngineCoreDelegate {
    let core: EngineCore
    let turn: CoreTurn
    let inbox: Inbox
    private let apps: [AppID]
    let nodes: [WorldNode]
    private let checkpointer: Checkpointer
    private let disk: CrashDisk
    private let told: WorldWakeup
    private let beginning: LifeBeginning
    private let cards: StoredCards
    private let loading: CardLoading
    private var reading: CardReading
    /// Is `true` once the engine was stopped, and its core has said all.
    private(set) var isOver = false
    /// Is called with the card of each start that the life gives up.
    var onGivenUp: ((Card) -> Void)?
    var onFate: ((ActivityFate, ActivityID) -> Void)?

    /// Is `true` if the app was muted when the life began.
    var isMuted: Bool { beginning.isMuted }
    /// Is `true` if claims name each start of earlier lives that has left.
    var knowsStarts: Bool { beginning.knowsStarts }

    /// - Parameters:
    ///   - shards: shards of each app.
    ///   - commands: room on the way to a shard. With little of it, pushes leave between the publications of a restart.
    init(_ disk: CrashDisk, _ clock: ManualClock, _ build: CrashBuild, shards: Int, streams: Int, commands: Int) throws
    {
        let (rules, logged) = (build.rules, build.logged)
        self.disk = disk
        let apps = build.apps
        self.apps = apps
        try disk.restart(at: clock, firstApp: apps.first)
        let told = WorldWakeup()
        self.told = told
        let room = WorldRoom(mailbox: 64, commands: commands, feedback: 16, facts: 16, streams: streams)
        let reading = CardReading(shards: apps.count * shards)
        self.reading = reading
        let nodes = reading.queues.enumerated().map { index, queue in
            WorldNode(
                app: index / shards, clock, room, pace: .zero, lineups: rules.lineups, limits: build.limits,
                keepsClaims: true, claimPatience: build.claimPatience, besideOthers: shards > 1,
                completionLimits: build.completionLimits, stamps: disk.stamps, loading: queue
            ) { told.isSet = true }
        }
        self.nodes = nodes
        let earlier = try EarlierProcess(disk.log) { try $0.read(disk.claims) }
        loading = CardLoading(after: earlier)
        cards = try StoredCards(disk.register, beside: nil)
        let serials = disk.people.nextSerial
        let distribution = LoadingDistribution(
            to: apps.indices.map { Array(reading.unread[$0 * shards..<($0 + 1) * shards]) }, apps: apps,
            limits: Rules.Limits(),
            now: clock.truth, batchMax: 1)
        cards.load(distribution, after: earlier) { _ in false }
        inbox = Inbox(capacity: 64, topicIDSizeMax: .bytes(256), hasStore: true)
        core = EngineCore(rules: rules, shards: nodes.map(\.link), perApp: shards, apps: apps, isLive: true)
        core.keepAlerts()
        core.keepCompletions(earlier.completions)
        _ = try core.recall(
            disk.log, under: rules, logged,
            within: earlier.horizon(since: disk.claims.start) { clock.truth },
            report: { _ in })
        beginning = LifeBeginning(
            serials: serials, isMuted: core.apps.orders[0].isMuted, knowsStarts: earlier.knowsStarts)
        if !earlier.knowsStarts, cards.expectedCount > 0 { disk.claims.append([], .ofNoLog) }
        if disk.claims.start == nil { disk.claims.begin(at: core.now) }
        let counting = core.takeEarlierCompletions()
        if counting == nil || earlier.hasVoidCompletions, earlier.knowsStarts { disk.change { $0.void() } }
        for key in core.takeOutdatedCompletions() { disk.change { $0.forget(key) } }
        checkpointer = try Checkpointer(core, disk.log, sink: disk, rules: logged, interval: 10)
        turn = CoreTurn(
            core, inbox, clock: ThreadClock(clock.source), intake: disk.intake, checkpointer: checkpointer
        ) { _ in }
        core.delegate = self
        disk.onCheckpoint = { [weak checkpointer] in checkpointer?.end($0) }
        disk.onClaimed = { [unowned core] in core.confirmClaims($0, shard: $1) }
        core.turnIsOver()
    }

    /// Runs one turn of the core.
    ///
    /// - Returns: whether there is more to do.
    func runCore() -> Bool {
        told.isSet = false
        let isReading = reading.readOne()
        core.takeFeedback()
        let isBusy = goOnLoading()
        return turn.run() == .again || isReading || isBusy
    }

    /// Is `true` while cards of the store are on their way to the shards.
    var isLoading: Bool { !loading.isOver }

    func coreDidLoad() { loading.noteLoaded(cards.takeFound()) }

    /// Carries out the next step of the loading.
    ///
    /// - Returns: whether there is more to do.
    private func goOnLoading() -> Bool {
        switch loading.next(in: core) {
        case .none: return false
        case .loaded(_, let voidsCompletions): if voidsCompletions { disk.change { $0.void() } }
        case .resumed(let unneeded):
            for card in unneeded { removeRow(of: card) }
            return !core.isCongested
        case .settled(let uncertain, let unnamed, _):
            disk.intake.endLoading(uncertain: uncertain)
            disk.claims.append(unnamed, CompletionChanges(), stampCeiling: nil)
            loading.noteNamed()
        case .giveUp(let cards):
            for (card, failure) in cards where failure != .uncertain || turn.noteReport(ofUncertain: card.id.rawValue) {
                onGivenUp?(card)
                if failure == .uncertain { removeRow(of: card) }
            }
        case .end(let voidsCompletions):
            disk.intake.uncertain.endReports()
            if voidsCompletions { disk.change { $0.void() } }
        }
        return true
    }

    private func removeRow(of card: Card) { disk.intake.ends.remove(card.id.rawValue, token: card.token.keyedHash) }

    /// Makes durable what waits in these parts of the store.
    ///
    /// - Returns: those in which something did.
    func sync(_ parts: [CrashDisk.Part]) -> [CrashDisk.Part] {
        let synced = parts.filter { disk.sync($0) }
        if synced.contains(.claims) { core.turnIsOver() }
        return synced
    }

    /// Lets everything arrive, until nothing has happened for some tenths of a second.
    ///
    /// - Parameters:
    ///   - patience: their number.
    ///   - kept: those that count still after something has happened.
    func settle(
        _ clock: ManualClock, patience: Int, keeping kept: Int = 0, sync: () -> Bool,
        answer: (WorldNode) -> Void = { $0.answer(0, .accepted) }
    ) {
        var idle = 0
        for _ in 0..<5000 where idle < patience {
            var isBusy = runCore()
            if sync() { isBusy = true }
            for node in nodes {
                if node.run() { isBusy = true }
                while !node.network.flights.isEmpty {
                    answer(node)
                    isBusy = true
                }
            }
            idle = isBusy ? min(idle, kept) : idle + 1
            if !isBusy { clock.pass(.milliseconds(100)) }
        }
    }

    /// Describes an invariant of a shard that does not hold; `nil` if all do.
    var violation: String? { nodes.lazy.compactMap { $0.turn.shard.violatedInvariant() }.first }

    /// Ends the life as a stop does that has time, with what waits for its interval.
    func stop(at now: MonotonicTime) { inbox.stop(by: now + .seconds(600)) }
    func finish() {
        isOver = true
        checkpointer.finish { false }
    }
    var hasFinished: Bool { turn.hasFinished }

    func coreDidClaim(_ claims: StoredClaims, _ ticket: UInt64, shard: Int) {
        disk.claim(claims, ticket, shard: shard)
    }
    func coreDidComplete(_ completions: [TopicCompletion], app: Int) {
        guard loading.notesCompletions else { return }
        let head = CompletionHead(position: checkpointer.decided, now: checkpointer.decidedAt)
        for completion in completions {
            let key = CompletionKey(birth: completion.publication.topic.birth, app: app, of: completion.scope)
            if completion.isVoid {
                disk.change { $0.forget(key) }
            } else {
                let stored = StoredCompletion(completion, app: apps[app], serials: beginning.serials)
                disk.change { $0.note(stored, at: key, head) }
            }
        }
    }
    func coreDidRemove(_ activity: UInt64, token: UInt64, shard: Int) {
        turn.noteRemoval(of: activity, token: token, shard: shard)
    }
    func coreDidCheckRemoval(_ activity: UInt64, token: UInt64, isOver: Bool) {
        _ = turn.noteRemovalCheck(of: activity, token: token, isOver: isOver)
    }
    func coreDidLearn(_ fate: ActivityFate, of activity: ActivityID) { onFate?(fate, activity) }
    func coreDidReach(stamp: Int64) { disk.reserve(stampsThrough: stamp) }
    func coreWillShowAgain() { if !loading.areStartsUnknown { disk.change { $0.void() } } }
    func coreDidForget(_ topic: TopicView) {
        for app in apps.indices { disk.change { $0.forget(topic.birth, app: app) } }
    }
}
