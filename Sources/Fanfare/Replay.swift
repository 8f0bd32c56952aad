import FanfareDecisions
import FanfareFanOut
import FanfareFeeds
import FanfareLoop
import FanfareModel
import Glibc

/// Replays recorded feeds, or live standard input, through the whole engine to synthetic subscribers.
///
/// Runs the core on the calling thread and the shards on threads of their own. The decision log it writes does not depend on the
/// speed, on the number of shards or on what the network does.
public final class Replay {
    private let options: ReplayOptions
    private let output: ReplayOutput
    private let clock: ClockSource
    private let loop: Loop
    private let engine: EngineCore
    private var source: any ReplaySource
    /// The source, where that is standard input.
    private let live: LiveInput?
    private var ending = LiveEnding()
    private var interruption: Wakeup?
    private var pacing: LoopTimer?
    /// Takes the next step after other callbacks had their chance. (A timer of zero would run again in the same turn.)
    private var nextStep: Wakeup?
    private var watch: LoopTimer?
    private var signals: [SignalWatcher] = []
    private var pace: Pace

    private var summary = ReplaySummary()
    private var progress = ReplayProgress()
    private let eventsExpected: Int?
    private var goals: GoalClock
    private var everybodyHasAll = false
    private var tally: DecisionTally?
    private var startedAt: Int64 = 0
    private var cpuAtStart: Int64 = 0
    private var hasBegun = false
    private var isOver = false
    private var isHalted = false
    /// For giving up: the last figure of accepted pushes that was seen to change, and when.
    private var stall: (accepted: Int, since: Int64) = (0, 0)
    private var line: [UInt8] = []
    private var reports = ReportLog()
    private var rejections = RejectionReports()
    private let preview: LineupPreview?

    /// Opens feeds, keys and threads. Subscribers are loaded before it returns.
    ///
    /// - Throws: `ReplayError`, one line for people: a file that cannot be read or recognised, a key, a certificate.
    public convenience init(_ options: ReplayOptions, output: ReplayOutput) throws(ReplayError) {
        try self.init(options, output: output, input: STDIN_FILENO)
    }

    /// - Parameters:
    ///   - input: the descriptor that `-` is read from; taken over, unless it is standard input.
    ///   - transports: instead of those of the options.
    init(
        _ options: ReplayOptions, output: ReplayOutput, input: CInt, transports: [TransportFactory]? = nil
    ) throws(ReplayError) {
        self.options = options
        clock = options.clock
        self.output = output
        preview = options.preview.isEmpty ? nil : LineupPreview(of: options.preview, rules: options.rules.lineups)
        // The goals of recordings are as many as there are; live feeds have no end.
        goals = GoalClock(goalsMax: options.paths == ["-"] ? Replay.liveGoalsMax : .max)
        if options.countsWhatIf { tally = DecisionTally(essentialIn: [options.rules]) }
        let live = options.paths == ["-"]
        // What is live comes when it comes.
        pace = Pace(speed: live ? .max : options.speed, gapMax: options.gapMax, from: options.from)
        do {
            loop = try Loop()
            var strangers: StrangeTopics?
            var subscribers = SyntheticSubscribers(
                count: options.subscribers, lineups: options.lineups, hasFavourites: options.hasFavourites,
                seed: options.seed, topics: [])
            if live {
                guard options.lineups == nil else {
                    throw ReplayError(
                        description: "lineups need a feed whose topics are known beforehand: name a file, not -")
                }
                eventsExpected = nil
                let input = try LiveInput(
                    loop: loop, descriptor: input, clock: clock, lineBytesMax: options.feed.lineBytesMax)
                (source, self.live) = (input, input)
            } else {
                let scan = try FeedScan(options)
                if let topic = options.preview.first(where: { !scan.topics.contains($0) }) {
                    throw ReplayError(description: "\(topic): the feed does not speak of it, so there is no preview")
                }
                eventsExpected = scan.events
                subscribers = SyntheticSubscribers(
                    count: options.subscribers, lineups: options.lineups, hasFavourites: options.hasFavourites,
                    seed: options.seed, topics: scan.topics)
                summary.skippedFiles = scan.skippedFiles
                strangers = options.subscriberSource.map { StrangeTopics($0, known: Set(scan.topics)) }
                source = RecordedFeed(try Feed(paths: options.paths, options: options.feed))
                self.live = nil
            }
            if live { liveSubscribers = subscribers }
            let known = subscribers
            engine = try EngineCore(
                loop: loop, rules: options.rules, shards: max(1, options.shards), pinsShards: options.pinsShards,
                makeTransports: try transports ?? options.transport.makeFactories(shards: options.shards),
                apps: options.transport.apps,
                clock: clock,
                load: { shard, place, moment in known.load(into: shard, at: place, moment) },
                subscribers: strangers ?? options.subscriberSource, report: output.report)
            if let notice = strangers?.notice { output.report(notice) }
            interruption = try Wakeup(loop: loop) { [unowned self] in interrupted() }
            nextStep = try Wakeup(loop: loop) { [unowned self] in step() }
            for signal in [SignalWatcher.Signal.interrupt, .terminate] {
                signals.append(
                    try SignalWatcher(loop: loop, signal: signal) { [unowned self] in interrupted() })
            }
            // Logging out ends what is read from the terminal. What comes through a pipe, or is started by a service, goes on.
            let isInteractive = isatty(STDIN_FILENO) == 1
            signals.append(
                try SignalWatcher(loop: loop, signal: .hangUp) { [unowned self] in
                    if isInteractive { interrupted() }
                })
        } catch {
            throw ReplayError(description: "\(error)")
        }
        pacing = LoopTimer(loop: loop) { [unowned self] in
            if hasBegun { step() } else { begin() }
        }
        watch = LoopTimer(loop: loop) { [unowned self] in look() }
        engine.onRecord = { [unowned self] in note($0, $1) }
        if preview != nil, let show = output.preview {
            engine.onDecisions = { [unowned self] in preview?.take($0, show: show) }
        }
        if self.live != nil, options.subscribers > 0 {
            engine.onPublication = { [unowned self] in welcome($0.topicID) }
        }
        engine.onCompleted = { [unowned self] in goals.completed($0, of: $1, at: $2) }
        engine.onOvertaken = { [unowned self] in goals.overtaken($0, of: $1) }
        engine.onForgotten = { [unowned self] in note(forgotten: $0) }
        engine.onFate = { [unowned self] in summary.fates.note($1) }
        engine.onReport = { [unowned self] in
            if let line = reports.admit($0, at: clock.monotonicNanoseconds()) { self.output.report(line) }
        }
        engine.onReady = { [unowned self] in begin() }
        engine.onRelief = { [unowned self] in step() }
        for path in summary.skippedFiles { output.report("\(path): not a feed, skipped") }
    }

    /// Subscribers of a live feed, whose topics nobody knows beforehand: all of them follow each topic as it appears.
    private var liveSubscribers: SyntheticSubscribers?
    private var liveTopics: Set<TopicID> = []

    /// From any thread: the replay stops and `run` returns with the figures so far. A live feed cannot be had again: what was taken of
    /// it is decided and sent first, for ten seconds or the options' `patience` where that is less. The second call stops at once.
    public var interrupt: @Sendable () -> Void {
        let signal = interruption?.signal
        return { signal?.signal() }
    }

    /// From any thread: what `ReplayOutput.isFull` spoke of has room again.
    public var goOn: @Sendable () -> Void {
        let signal = nextStep?.signal
        return { signal?.signal() }
    }

    /// Runs to the end of the feed and until everybody has the last state, or until interrupted. Once.
    public func run() -> ReplaySummary {
        startedAt = clock.monotonicNanoseconds()
        stall.since = startedAt
        cpuAtStart = Clock.processCPUNanoseconds()
        // Connections open first, as they would be before a match; a network that does not answer holds up no decision.
        pacing?.start(after: Replay.readinessMax)
        loop.run()
        let cpu = Clock.processCPUNanoseconds() - cpuAtStart
        engine.stop(within: ending.timeLeft(at: clock.monotonicNanoseconds()))
        summary.counts = engine.counts
        if let line = ending.unsent(undelivered: summary.undelivered, isDecided: isOver) { output.report(line) }
        summary.freshness = engine.freshness
        // In a recording no more than the recording's time lies between a goal and its end.
        if everybodyHasAll, live == nil { goals.settled(at: summary.freshness.lastAccepted) }
        summary.goals = goals.all
        summary.goalsLeftOut = goals.leftOut
        if let line = rejections.finish() { output.report(line) }
        if summary.updates == 0, summary.decisions[.unchanged, default: 0] > 0 {
            output.report(
                "nothing of the feed was visible: `fanfare explain FEED --topic T --all` says of each event why")
        }
        summary.whatIf = tally?.total
        summary.seconds = Double(clock.monotonicNanoseconds() - startedAt) / 1e9
        summary.deliverySeconds = Double(max(0, summary.freshness.lastAccepted - startedAt)) / 1e9
        let sent = summary.counts.pushes.sent
        if sent > 0 { summary.cpuMicrosecondsPerPush = Double(cpu) / 1e3 / Double(sent) }
        summary.peakResidentBytes = Clock.peakResidentBytes()
        source.close()
        // What is left to say may wait for a reader: signals end the process again.
        for signal in signals { signal.close() }
        // Whoever embeds replays has many; nobody calls this one any more.
        loop.close()
        return summary
    }

    /// One NDJSON line per topic, in order of appearance: what `--states` prints. Of topics that were forgotten on the way only where
    /// the options say that their states are kept.
    public func writeStates(to write: ([UInt8]) -> Void) {
        let remembered = engine.topics.map { (birth: $0.birth, line: $0.line) }
        for state in (forgottenStates + remembered).sorted(by: { $0.birth < $1.birth }) { write(state.line) }
    }

    private var forgottenStates: [(birth: UInt64, line: [UInt8])] = []

    private func note(forgotten topic: DecisionCore.TopicView) {
        liveTopics.remove(topic.id)
        if options.keepsStates { forgottenStates.append((topic.birth, topic.line)) }
    }

    // MARK: The feed

    private static let readinessMax = Duration.seconds(2)
    /// A match day has some thirty.
    private static let liveGoalsMax = 10_000

    private func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        startedAt = clock.monotonicNanoseconds()
        watch?.start(after: .milliseconds(200), repeating: .milliseconds(200))
        source.onItems = { [unowned self] in step() }
        source.start()
        step()
    }

    /// Events per turn of the loop at full speed; then completions have their turn.
    private static let eventsPerTurn = 512

    private func step() {
        guard !isOver, !isHalted else { return }
        for _ in 0..<Replay.eventsPerTurn {
            // Full is an answer: the feed waits until the shards have taken what they have, and the log's reader what he has.
            if engine.isCongested || output.isFull?() == true { return }
            guard let (now, item) = source.peek() else {
                feedIsEmpty()
                return
            }
            if let until = options.until, now > until {
                finish()
                return
            }
            // Timers that are due before this event fire at their own moment, not when the event happens to come.
            let moment = min(now, nextDeadline ?? now)
            let wait = pace.wait(until: moment, now: clock.monotonicNanoseconds())
            if wait > 0 {
                pacing?.start(after: .nanoseconds(wait))
                return
            }
            if moment < now {
                advance(to: moment)
                continue
            }
            source.advance()
            take(item, now: now)
        }
        nextStep?.signal.signal()
    }

    /// Of the engine, and of the phone that is previewed.
    private var nextDeadline: FeedTime? { [engine.nextDeadline, preview?.nextDue].compactMap(\.self).min() }

    private func advance(to moment: FeedTime) {
        if let due = engine.nextDeadline, due <= moment { engine.advance(to: moment) }
        if let show = output.preview { preview?.pass(to: moment, show: show) }
    }

    private func take(_ item: FeedItem, now: FeedTime) {
        if case .noticed(let notice) = item { return output.report("\(notice)") }
        summary.events += 1
        progress.now = now
        goals.ingested(at: clock.monotonicNanoseconds())
        switch item {
        case .event(let event):
            engine.apply(event, now: now, wall: source.wall)
        case .rejected(let rejection):
            engine.reject(rejection, now: now)
        case .noticed: break  // said above
        }
    }

    private func feedIsEmpty() {
        if source.isAtEnd { return finish() }
        // Live and nothing new: what waits for its interval is not held up by a feed that has gone quiet.
        guard let deadline = nextDeadline, let now = source.clockTime() else { return }
        if deadline > now {
            // Log time may be the slower one; who comes early then waits once more.
            pacing?.start(after: deadline - now)
        } else {
            advance(to: deadline)
            progress.now = deadline
            nextStep?.signal.signal()
        }
    }

    /// The feed is over; everybody is owed the last state before the replay is.
    private func finish() {
        isOver = true
        engine.finish()
        if let show = output.preview { preview?.finish(show: show) }
        engine.settle { [unowned self] in
            guard $0 != .unknown else { return }
            ending.hasSettled = true
            everybodyHasAll = $0 == .complete
            halt()
        }
    }

    /// Nothing more is decided, and `run` goes on.
    private func halt() {
        isHalted = true
        loop.stop()
    }

    /// Somebody wants it to stop.
    private func interrupted() {
        summary.interrupted = true
        guard let live, hasBegun, ending.begin(at: clock.monotonicNanoseconds(), patience: options.patience) else {
            return halt()
        }
        live.stop()
        step()
    }

    private func welcome(_ topic: TopicID) {
        guard let subscribers = liveSubscribers, subscribers.count > 0, liveTopics.insert(topic).inserted else {
            return
        }
        subscribers.follow(topic) { key, command in engine.send(command, forSubscriber: key) }
    }

    // MARK: What is told

    private func note(_ record: DecisionRecord, _ publication: Publication?) {
        summary.decisions[record.outcome, default: 0] += 1
        tally?.note(record, publication)
        if publication != nil { summary.updates += 1 }
        switch record.alert {
        case .granted: summary.alertsGranted += 1
        case .demoted: summary.alertsDemoted += 1
        case nil: break
        }
        if let topic = record.topic, record.origin == .event, record.kind == "goal",
            [.published, .conflated].contains(record.outcome)
        {
            goals.scored(in: topic)
        }
        if let publication { goals.carried(by: publication) }
        if record.outcome == .rejected {
            // What could not be read has its place in the reason; what could not be accepted has a topic.
            let line = record.topic.map { "\($0): \(record.reason)" } ?? record.reason
            for line in rejections.admit(line, at: clock.monotonicNanoseconds()) { output.report(line) }
        }
        guard let write = output.decision else { return }
        line.removeAll(keepingCapacity: true)
        record.write(to: &line)
        write(line)
    }

    private func look() {
        let now = clock.monotonicNanoseconds()
        progress.events = summary.events
        progress.updates = summary.updates
        progress.counts = engine.counts
        progress.seconds = Double(now - startedAt) / 1e9
        progress.fraction = eventsExpected.map { $0 == 0 ? 1 : Double(summary.events) / Double($0) }
        output.progress?(progress)
        if let isLate = ending.isLate(at: now) { return isLate ? halt() : () }
        let accepted = progress.counts.pushes.accepted
        // While the feed goes on, so does the replay: what is mended meanwhile is served.
        if accepted != stall.accepted || progress.counts.owed == 0 || !isOver {
            stall = (accepted, now)
        } else if let patience = options.patience, now - stall.since > patience.milliseconds * 1_000_000 {
            output.report(
                "gave up: the feed is over, and nothing was accepted for \(patience.milliseconds / 1000) s while "
                    + "\(progress.counts.owed) activities were owed an update (--patience)")
            summary.interrupted = true
            halt()
        }
    }
}

extension DecisionCore.TopicView {
    fileprivate var line: [UInt8] {
        var line: [UInt8] = []
        write(to: &line)
        return line
    }
}

/// Why a replay could not begin: one line for people.
public struct ReplayError: Error, CustomStringConvertible, Sendable {
    public let description: String
}
