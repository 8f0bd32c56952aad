import Fanfare
import FanfareDecisions
import FanfareFanOut
import FanfareFeeds
import FanfareLog
import FanfareLoop
import FanfareModel
import Glibc

/// Replays recorded feeds or live standard input through the whole engine to synthetic subscribers.
///
/// Runs the core on the calling thread and the shards on threads of their own. The decision log does not depend on the
/// speed, on the number of shards or on the network.
package final class Replay {
    private let plan: ReplayPlan
    private let loop: Loop
    private let engine: EngineCore
    private var source: any ReplaySource
    private let pacing: ReplayPacing
    private let interruptions: Interruptions
    private var course = ReplayCourse()
    private var stall: StallWatch
    private var figures: ReplayFigures
    private let journal: ReplayJournal
    private var states: TopicStates
    private var liveAudience: LiveAudience?
    private let preview: PreviewScreen?
    /// Log of taken items; `nil` if nothing outlives the process.
    private var store: ReplayStore?

    /// Opens feeds, keys and threads, and loads the subscribers before it returns.
    ///
    /// - Throws: `ReplayError` for a file that cannot be read or recognised, a key or a certificate.
    package convenience init(_ options: ReplayOptions, output: ReplayOutput) throws(ReplayError) {
        try self.init(options, output: output, input: STDIN_FILENO)
    }

    /// - Parameters:
    ///   - input: descriptor that `-` is read from; closed by the replay unless it is standard input.
    ///   - transports: transports to use instead of those in the options.
    ///   - log: log to use instead of that in the options' store.
    ///   - feed: source to use instead of the options' paths.
    init(
        _ options: ReplayOptions, output: ReplayOutput, input: CInt, transports: [TransportFactory]? = nil,
        log: (any Log)? = nil, feed: (any ReplaySource)? = nil
    ) throws(ReplayError) {
        plan = try ReplayPlan(options)
        stall = StallWatch(patience: options.patience)
        figures = ReplayFigures(plan)
        journal = ReplayJournal(output, clock: options.clock)
        states = TopicStates(keepsForgotten: options.keepsStates)
        liveAudience = plan.liveAudience
        preview = PreviewScreen(of: options.preview, rules: options.rules.lineups, show: output.preview)
        let loop: Loop
        do { loop = try Loop() } catch { throw ReplayError(description: "\(error)") }
        self.loop = loop
        do {
            if let log = try log ?? Replay.openLog(options.store) {
                store = try ReplayStore(log, isLive: plan.isLive, loop: loop)
            }
            source = try feed ?? Replay.open(plan, loop, input)
            engine = try Replay.makeEngine(plan, loop, transports, report: output.report)
            if let notice = plan.strangers?.notice { journal.report(notice) }
            pacing = try ReplayPacing(plan.timeScale, loop: loop)
            interruptions = try Interruptions(loop: loop)
            engine.delegate = self
            // Signals end the process until the store has been read, which may take minutes.
            try recall()
            try interruptions.takeSignals(of: loop)
        } catch {
            // An open handle and its loop keep each other.
            loop.close()
            throw ReplayError(description: "\(error)")
        }
        connect()
        for path in plan.skippedFiles { journal.report("\(path): not a feed, skipped") }
    }

    private static func openLog(_ options: StoreOptions?) throws(LogError) -> (any Log)? {
        guard let options else { return nil }
        let log = try LMDBLog(folder: options.folder)
        // The recall may append rules, so it must not begin if the claims cannot be suspended after it.
        try ClaimFolder.checkForm(store: options.folder)
        return log
    }

    private static func open(_ plan: ReplayPlan, _ loop: Loop, _ input: CInt) throws -> any ReplaySource {
        guard plan.isLive else {
            return RecordedFeed(try Feed(paths: plan.options.paths, options: plan.options.feed))
        }
        return try LiveInput(
            loop: loop, descriptor: input, clock: plan.options.clock, lineSizeMax: plan.options.feed.lineSizeMax)
    }

    private static func makeEngine(
        _ plan: ReplayPlan, _ loop: Loop, _ transports: [TransportFactory]?, report: (String) -> Void
    ) throws -> EngineCore {
        let options = plan.options
        return try EngineCore(
            loop: loop, rules: options.rules, shards: max(1, options.shards), pinsShards: options.pinsShards,
            makeTransports: try transports ?? options.transport.makeFactories(shards: options.shards),
            apps: options.transport.apps, clock: options.clock,
            activities: plan.subscribers, subscribers: plan.subscriberSource, isLive: plan.isLive, report: report)
    }

    private func connect() {
        pacing.onDue = { [unowned self] in if course.hasBegun { step() } else { begin() } }
        interruptions.onInterrupt = { [unowned self] in interrupted() }
        source.onItems = { [unowned self] in step() }
        store?.commits.onDurable = { [unowned self] entries, _ in decide(entries) }
        store?.commits.onReport = { [unowned self] in journal.reportOnce($0) }
        pacing.onCheck = { [unowned self] in checkProgress() }
    }

    /// Interrupts the replay; callable from any thread. `run` returns with the figures so far. A live feed cannot
    /// be read again, so the events taken are decided and sent first, within eight seconds or the options' `patience`
    /// if that is less. The second call stops at once.
    package var interrupt: @Sendable () -> Void { interruptions.interrupt }

    /// Resumes the feed when there is room again where `ReplayOutput.isFull` was `true`; callable from any thread.
    package var goOn: @Sendable () -> Void { pacing.step }

    /// Ends the claims that an engine has kept in the store, because this replay sends without any. To be called before `run`, and not before
    /// the last reason for which the replay may be refused: the next engine knows its starts by these claims.
    package func takeOverStore() throws(ReplayError) {
        guard let folder = plan.options.store?.folder else { return }
        do { try ClaimFolder.suspend(store: folder) } catch { throw ReplayError(description: "\(error)") }
    }

    /// Runs to the end of the feed and until every activity has its newest state, or until interrupted. To be called once.
    package func run() -> ReplaySummary {
        figures.connect(at: now)
        stall.begin(at: now)
        // Connections open first, as they would before a match. A network that does not answer delays decisions by `readinessMax` at most.
        pacing.wait(Replay.readinessMax)
        loop.run()
        figures.stop()
        engine.stop(within: course.timeLeft(at: now))
        if let store { figures.note(store.counts) }
        let summary = figures.finish(
            counts: engine.counts, freshness: engine.freshness,
            everybodyHasAll: course.everybodyHasAll && course.isFeedOver && !plan.isLive, at: now)
        if let line = course.unsent(undelivered: summary.undelivered) { journal.report(line) }
        journal.finish(summary)
        source.close()
        store?.close()
        // The last output may wait for a reader, so signals end the process again.
        interruptions.releaseSignals()
        // An embedding program may run many replays; this one gets no more calls.
        loop.close()
        return summary
    }

    /// Writes one NDJSON line per topic in order of appearance, for `--states`. Topics forgotten during the replay are
    /// included only if the options keep their states.
    package func writeStates(to write: ([UInt8]) -> Void) {
        for line in states.lines(with: engine.topics) { write(line) }
    }

    private var now: MonotonicTime { plan.options.clock.monotonic() }

    // MARK: The feed

    private static let readinessMax = Duration.seconds(2)

    private func begin() {
        guard course.begin() else { return }
        figures.begin(with: engine.counts, at: now)
        engine.endRecall()
        pacing.beginChecking()
        source.start()
        step()
    }

    /// Events per turn of the loop at full speed, so that completions are handled between turns.
    private static let eventsPerTurn = 512

    /// Time of the last step. With a store, the entries that it gathered are the next ones to be decided.
    private var gatheredAt = MonotonicTime.always

    private func step() {
        guard course.isFeeding, store?.commits.isCommitting != true else { return }
        var entries: [LogEntry] = []
        gatheredAt = now
        gather(&entries)
        store?.commits.append(entries)
    }

    /// Takes due items and decides them. With a store it gathers them as entries instead, which are decided once they are durable.
    private func gather(_ entries: inout [LogEntry]) {
        for _ in 0..<Replay.eventsPerTurn {
            // The feed waits until the shards have taken their commands and the log's reader has caught up.
            if engine.isCongested || journal.isFull { return }
            guard let (logTime, item) = source.peek() else { return entries.isEmpty ? feedIsEmpty() : () }
            if let until = plan.options.timetable.until, logTime > until { return entries.isEmpty ? finish() : () }
            // A timer that is due before this event fires at its own deadline, not at the event's time. The timers that the entries will set are not
            // known yet, so time waits for the entries.
            let moment = entries.isEmpty ? min(logTime, nextStop ?? logTime) : logTime
            guard pacing.hasCome(moment, at: now) else { return }
            if moment < logTime {
                if !pass(to: moment) { return }
                continue
            }
            source.advance()
            if case .noticed(let notice) = item { journal.report("\(notice)") }
            guard let store else {
                take(item, logTime)
                continue
            }
            if let entry = store.entry(of: item, now: logTime, wall: source.wall) {
                entries.append(entry)
            }
        }
        if entries.isEmpty { pacing.yield() }
    }

    /// Advances to a deadline before the next item.
    ///
    /// - Returns: `false` if that takes an entry in the store first.
    private func pass(to moment: FeedTime) -> Bool {
        guard let store, let due = engine.nextDeadline, due <= moment else {
            advance(to: moment)
            return true
        }
        // A clock beyond all plausible times moves no log time, so its ticks would never end.
        store.commits.append([LogEntry(now: moment.isPlausible ? moment : due, .tick)])
        return false
    }

    /// Decides entries that have become durable.
    private func decide(_ entries: [LogEntry]) {
        for entry in entries {
            switch entry.body {
            case .event, .rejection:
                // The disk's time counts: people wait for it, too.
                figures.noteEvent(at: gatheredAt, logTime: entry.now)
                engine.apply(entry)
            case .tick:
                advance(to: entry.now)
                figures.noteTime(entry.now)
            case .feedEnd: settle()
            case .rules: break
            }
            store?.checkpoints?.writer.noteDecided(entry)
        }
        _ = store?.checkpoints?.writer.run()
        // The next step comes after the callbacks of other events.
        if course.isFeeding { pacing.yield() }
        endLeaving()
    }

    /// Earliest moment at which time stops before the next item. If there is a store and an item has come, only the previewed phone's moment counts,
    /// because each stop of the engine is an entry, and an event fires the timers before it anyway.
    private var nextStop: FeedTime? {
        store != nil && (plan.isLive || plan.options.timetable.speed == .max) ? preview?.nextDue : nextDeadline
    }

    /// Earliest deadline of the engine and of the previewed phone.
    private var nextDeadline: FeedTime? { [engine.nextDeadline, preview?.nextDue].compactMap(\.self).min() }

    private func advance(to moment: FeedTime) {
        if let due = engine.nextDeadline, due <= moment { engine.advance(to: moment) }
        preview?.pass(to: moment)
    }

    private func take(_ item: FeedItem, _ logTime: FeedTime) {
        if case .noticed = item { return }
        figures.noteEvent(at: now, logTime: logTime)
        switch item {
        case .event(let event): engine.apply(event, now: logTime, wall: source.wall)
        case .rejected(let rejection): engine.reject(rejection, now: logTime)
        case .noticed: break  // reported by `gather`
        }
    }

    private func feedIsEmpty() {
        if source.isAtEnd { return finish() }
        // A live feed is quiet: the changes that wait for their interval must still go out in time.
        guard let deadline = nextDeadline, let logTime = source.clockTime() else { return }
        if deadline > logTime {
            // Log time may run slower than the loop's clock; an early step then waits again.
            pacing.wait(deadline - logTime)
        } else if pass(to: store == nil ? deadline : logTime) {
            figures.noteTime(deadline)
            pacing.yield()
        }
    }

    // MARK: The store

    /// Decides the entries of earlier runs again; the decision log gets its records, and the shards each topic's state.
    private func recall() throws {
        guard let store else { return }
        engine.beginRecall()
        let recall = CoreRecall(
            core: engine, rules: plan.options.rules, logged: LogRules(text: plan.options.store?.rules ?? ""),
            report: journal.report)
        try store.recall(from: &source, into: recall)
        // No checkpoint has the states of forgotten topics.
        if plan.isLive, !plan.options.keepsStates, let options = plan.options.store {
            try store.keepCheckpoints(of: engine, rules: recall.logged, interval: options.checkpointInterval) {
                [journal] in journal.reportOnce($0)
            }
        }
        source.continueLogTime(from: engine.now)
        figures.noteRecall(of: store.recalled)
    }

    // MARK: The end

    /// Ends the feed; the replay goes on until every activity has its newest state.
    private func finish() {
        guard let store else { return settle() }
        store.commits.append([LogEntry(now: engine.now, .feedEnd)])
    }

    private func settle() {
        course.endFeed()
        engine.finish()
        preview?.finish()
        engine.settle { [unowned self] in if course.settle($0) { halt() } }
    }

    /// Stops the loop: nothing more is decided, and `run` continues.
    private func halt() {
        course.halt()
        loop.stop()
    }

    /// Handles a request to stop.
    private func interrupted() {
        figures.noteInterruption()
        // A replay without a log can read its files again. A log sends no alert again, so pushes on their way go out first.
        guard course.hasBegun, plan.isLive || store != nil else {
            course.haltAtOnce()
            return loop.stop()
        }
        guard course.interrupt(at: now, patience: plan.options.patience) else { return halt() }
        guard !plan.isLive else {
            source.stop()
            return step()
        }
        course.leaveFeed()
        endLeaving()
    }

    /// Waits for the pushes of a feed that was left, once all entries of the log are decided. The log gets no end of the feed, because the
    /// next run goes on with it.
    private func endLeaving() {
        guard course.isLeaving, store?.commits.isCommitting != true else { return }
        course.noteDecided()
        engine.settle { [unowned self] in if course.settle($0) { halt() } }
    }

    private func checkProgress() {
        let now = now
        // The replay writes checkpoints while the feed is quiet, too: a quarter of a megabyte with each check.
        for _ in 0..<8 where store?.checkpoints?.writer.run() != true { break }
        let progress = figures.progress(with: engine.counts, at: now)
        journal.show(progress)
        if let isLate = course.isLate(at: now) { return isLate ? halt() : () }
        let counts = progress.counts
        guard
            stall.isStalled(
                accepted: counts.pushes.accepted, owed: counts.owed, isFeedOver: course.isFeedOver, at: now),
            let patience = plan.options.patience
        else { return }
        journal.report(
            "gave up: the feed is over, and nothing was accepted for \(patience.milliseconds / 1000) s while "
                + "\(counts.owed) activities were owed an update (--patience)")
        figures.noteInterruption()
        halt()
    }
}

extension Replay: EngineCoreDelegate {
    func coreDidRecord(_ record: DecisionRecord, of publication: Publication?) {
        guard !engine.isRecalling else {
            figures.note(recalled: record)
            return journal.note(recalled: record)
        }
        figures.note(record, publication)
        journal.note(record)
    }

    func coreWillPublish(_ publication: Publication) {
        liveAudience?.welcome(publication.topicID) { engine.send($1, forSubscriber: $0) }
    }

    func coreDidDecide(_ decisions: [Decision]) { preview?.take(decisions, isShown: !engine.isRecalling) }

    func coreDidRestore(records: RecordCounts, _ publications: [Publication]) {
        figures.note(recalledRejections: records.rejected)
        journal.skip(records.all)
        if plan.options.keepsStates {
            journal.report("topics that were forgotten before the store's checkpoint are not among the states")
        }
        preview?.take(publications.map { .publish($0) }, isShown: false)
    }

    func coreDidForget(_ topic: TopicView) {
        liveAudience?.forget(topic.id)
        states.note(forgotten: topic)
    }

    func coreDidComplete(_ serial: UInt64, of topic: TopicID, at moment: MonotonicTime?) {
        figures.noteCompletion(of: serial, of: topic, at: moment)
    }

    func coreDidOvertake(_ serial: UInt64, of topic: TopicID) { figures.noteOvertaken(serial, of: topic) }
    func coreDidLearn(_ fate: ActivityFate, of activity: ActivityID) { figures.note(fate) }
    func coreDidReport(_ line: String) { journal.reportOnce(line) }
    func coreDidBecomeReady() { begin() }
    func coreDidRelieve() { step() }
}
