import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import FanfareRules

/// Runs the core's turns on its loop and announces the core's reports.
final class EngineDriver: EngineCoreDelegate {
    private let core: EngineCore
    private let turn: CoreTurn
    private let loop: Loop
    private var announcer: Announcer
    private let decisions: Broadcast<DecisionRecord>
    private var wakeup: Wakeup?
    private var ticks: LoopTimer?
    private var store: EngineStore?
    /// Loading of the store's cards; `nil` without a store.
    private var loading: CardLoading?
    private var cards: StoredCards?
    /// Beginning of the loading.
    private var began = MonotonicTime.always

    var signal: WakeupSignal { wakeup!.signal }  // set in `init`, never cleared
    /// Meters of the store; `nil` without a store.
    var meters: StoreMeters? { store?.meters }

    init(
        _ loop: Loop, _ options: EngineOptions, _ apps: [AppID], _ makeTransports: [TransportFactory],
        _ inbox: Inbox, _ announcements: Announcements
    ) throws {
        self.loop = loop
        announcer = Announcer(announcements)
        decisions = announcements.decisions
        var early = Announcer(announcements)
        var report: ((String) -> Void)?
        let opened = try options.store.map { choice in
            try OpenedStore(choice, options, firstApp: apps.first) { early.reports.say($0) }
        }
        var clock = options.clock
        if let opened { clock.stamps = opened.stamps }
        core = try EngineCore(
            loop: loop, rules: options.rules, limits: options.limits, shards: options.shards,
            pinsShards: options.pinsShards, makeTransports: makeTransports, apps: apps, clock: clock,
            subscribers: options.subscribers, storedCount: opened?.cards.expectedCount, keepsPeople: opened != nil,
            isLive: true, report: { early.reports.say($0) })
        do {
            if let opened {
                let rules = LogRules(options.rules, program: options.store?.decisionVersion ?? 0)
                try opened.recall(
                    into: core, under: options.rules, rules, wall: { options.clock.wall() },
                    report: { early.reports.say($0) })
                loading = CardLoading(after: opened.earlier)
                began = clock.monotonic()
                cards = opened.cards
                store = try EngineStore(opened, core, rules, options, waitingMax: inbox.capacity, loop: loop)
            }
            var work: () -> Void = {}
            wakeup = try Wakeup(loop: loop) { work() }
            turn = CoreTurn(
                core, inbox, clock: ThreadClock(options.clock), intake: store?.intake,
                checkpointer: store?.checkpointer
            ) { report?($0) }
            work = { [unowned self] in self.work() }
        } catch {
            // The shards end the loading first, because the store's thread may wait for them.
            core.stop(within: .zero)
            store?.close()
            throw error
        }
        ticks = LoopTimer(loop: loop) { [unowned self] in work() }
        turn.onOver = { loop.stop() }
        if let opened { tidyCompletions(of: opened.earlier) }
        connectStore()
        core.delegate = self
        report = { [unowned self] in announcer.reports.say($0) }
    }

    /// Seconds of loading that are worth a line for operators.
    private static let loadingReported: Int64 = 2

    /// Removes the void completions: all, if the recall says so, or those of other states than the topics'.
    private func tidyCompletions(of earlier: EarlierProcess) {
        let counting = core.takeEarlierCompletions()
        // While starts are unknown, the completions stay: they tell the next process that the starts are unknown, until claims name the starts.
        if counting == nil || earlier.hasVoidCompletions, earlier.knowsStarts { store?.claims.change { $0.void() } }
        let gone = core.takeOutdatedCompletions()
        if !gone.isEmpty { store?.claims.change { changes in for key in gone { changes.forget(key) } } }
    }

    /// Reports a start that this engine does not send, unless the card is on a phone.
    private func giveUp(_ card: Card, _ failure: StartFailure) {
        if failure == .uncertain {
            guard turn.noteReport(ofUncertain: card.id.rawValue) else { return }
            removeRow(of: card)
        }
        coreDidLearn(.notStarted(failure), of: card.id)
    }

    private func removeRow(of card: Card) {
        store?.intake.ends.remove(card.id.rawValue, token: card.token.keyedHash)
    }

    /// Carries out the next step of the loading.
    ///
    /// - Returns: `true` if there is more to do.
    private func goOnLoading() -> Bool {
        guard let loading, !turn.hasFinished else { return false }
        switch loading.next(in: core) {
        case .none: return false
        case .loaded(let lines, let voidsCompletions): reportLoaded(lines, voidsCompletions)
        case .resumed(let unneeded):
            for card in unneeded { removeRow(of: card) }
            return !core.isCongested
        case .settled(let uncertain, let unnamed, let line):
            if let line { turn.report(line) }
            store?.intake.endLoading(uncertain: uncertain)
            if !unnamed.isEmpty { store?.claims.name(unnamed) }
        case .giveUp(let cards): for (card, failure) in cards { giveUp(card, failure) }
        case .end(let voidsCompletions):
            store?.intake.uncertain.endReports()
            if voidsCompletions { voidAllCompletions() }
        }
        return true
    }

    private func reportLoaded(_ lines: [String], _ voidsCompletions: Bool) {
        for line in lines { turn.report(line) }
        if voidsCompletions { voidAllCompletions() }
        let seconds = (turn.now - began).components.seconds
        if seconds >= EngineDriver.loadingReported {
            turn.report("all people of the store are loaded", with: ", after \(seconds) s")
        }
    }

    private func voidAllCompletions() { store?.claims.change { $0.void() } }

    private func connectStore() {
        store?.claims.onNamed = { [unowned self] in
            loading?.noteNamed()
            signal.signal()
        }
        store?.claims.onReport = { [unowned self] in turn.report($0) }
        store?.claims.onDurable = { [unowned self] in
            core.confirmClaims($0, shard: $1)
            core.turnIsOver()
        }
        store?.checkpointer.onReport = { [unowned self] in turn.report($0) }
        store?.checkpoints.onRoom = { [unowned self] in signal.signal() }
        store?.commits.onReport = { [unowned self] in turn.report($0) }
        store?.commits.onDurable = { [unowned self] _, first in
            store?.intake.entriesAreDurable(from: first)
            work()
        }
        store?.people.onReport = { [unowned self] in turn.report($0) }
        store?.people.onDurable = { [unowned self] kept in
            store?.intake.rowsAreDurable(kept: kept)
            work()
        }
    }

    /// Runs the loop until the engine has stopped on request.
    func run() -> ShutdownReport {
        loop.run()
        core.stop(within: turn.timeLeft)
        store?.checkpointer.finish { turn.timeLeft <= .zero }
        // A disk that does not answer blocks its own thread, and nothing else.
        store?.close(within: .seconds(1), checkpoint: .seconds(max(1, Int(turn.timeLeft / .seconds(1)))))
        let counts = core.counts
        return ShutdownReport(owed: counts.owed, refused: counts.refusedStates, unstored: store?.intake.lost ?? 0)
    }

    private func work() {
        if goOnLoading() { signal.signal() }
        let next = turn.run()
        store?.noteWaiting()
        switch next {
        case .again: signal.signal()
        case .after(let wait?): ticks?.start(after: wait)
        case .after(nil): ticks?.stop()
        }
    }

    // MARK: EngineCoreDelegate

    func coreDidRecord(_ record: DecisionRecord, of publication: Publication?) {
        if decisions.hasListeners { announcer.decisions.say(record) }
    }
    func coreDidLoseToken(of activity: ActivityID) { announcer.deadTokens.say(activity) }
    func coreDidRemove(_ activity: UInt64, token: UInt64, shard: Int) {
        turn.noteRemoval(of: activity, token: token, shard: shard)
    }
    func coreDidCheckRemoval(_ activity: UInt64, token: UInt64, isOver: Bool) {
        if turn.noteRemovalCheck(of: activity, token: token, isOver: isOver) { signal.signal() }
    }
    func coreDidLearn(_ fate: ActivityFate, of activity: ActivityID) {
        announcer.activityEvents.say(ActivityEvent(activity: activity, fate: fate))
    }
    func coreDidClaim(_ claims: StoredClaims, _ ticket: UInt64, shard: Int) {
        store?.claims.append(claims, ticket, shard: shard)
    }
    func coreDidComplete(_ completions: [TopicCompletion], app: Int) {
        if loading?.notesCompletions ?? false { store?.note(completions, app: app, of: core) }
    }
    func coreWillShowAgain() { if loading?.areStartsUnknown == false { voidAllCompletions() } }
    func coreDidForget(_ topic: TopicView) {
        let apps = max(1, core.apps.ids.count)
        store?.claims.change(isPressing: false) {
            for app in 0..<apps { $0.forget(topic.birth, app: app) }
        }
    }
    func coreDidReach(stamp: Int64) { store?.claims.reserve(stampsThrough: stamp) }
    func coreDidLoad() {
        guard let cards else { return }
        loading?.noteLoaded(cards.takeFound())
        self.cards = nil
        signal.signal()
    }
    func coreDidReport(_ line: String) { turn.report(line) }
    func coreDidRelieve() { signal.signal() }
}
