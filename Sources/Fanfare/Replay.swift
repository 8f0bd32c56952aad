import FanfareCore
import FanfareFeeds
import FanfareLoop

/// Replays recorded feeds, or live standard input, through the whole engine to synthetic subscribers.
///
/// Runs the core on the calling thread and the shards on threads of their own. The decision log it writes does not depend on the
/// speed, on the number of shards or on what the network does.
public final class Replay {
    private let options: ReplayOptions
    private let output: ReplayOutput
    private let loop: Loop
    private let engine: EngineCore
    private var source: any ReplaySource
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
    private var goals = GoalClock()
    private var tally: DecisionTally?
    private var startedAt: Int64 = 0
    private var cpuAtStart: Int64 = 0
    private var lastDelivery: Int64 = 0
    private var hasBegun = false
    private var isOver = false
    /// For giving up: the last figure of accepted pushes that was seen to change, and when.
    private var stall: (accepted: Int, since: Int64) = (0, 0)
    private var line: [UInt8] = []
    private let preview: LineupPreview?

    /// Opens feeds, keys and threads. Subscribers are loaded before it returns.
    ///
    /// - Throws: `ReplayError`, one line for people: a file that cannot be read or recognised, a key, a certificate.
    public init(_ options: ReplayOptions, output: ReplayOutput) throws(ReplayError) {
        self.options = options
        self.output = output
        preview = options.preview.isEmpty ? nil : LineupPreview(of: options.preview, rules: options.rules.lineups)
        if options.countsWhatIf { tally = DecisionTally(essentialIn: [options.rules]) }
        pace = Pace(speed: options.speed, gapMax: options.gapMax, from: options.from)
        do {
            loop = try Loop()
            let live = options.paths == ["-"]
            var subscribers = SyntheticSubscribers(
                count: options.subscribers, lineups: options.lineups, hasFavourites: options.hasFavourites,
                seed: options.seed, topics: [])
            if live {
                guard options.lineups == nil else {
                    throw ReplayError(
                        description: "lineups need a feed whose topics are known beforehand: name a file, not -")
                }
                eventsExpected = nil
                source = try LiveInput(loop: loop, lineBytesMax: options.feed.lineBytesMax)
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
                source = RecordedFeed(try Feed(paths: options.paths, options: options.feed))
            }
            if live { liveSubscribers = subscribers }
            let known = subscribers
            let others = options.subscriberSource
            let apps = options.transport.apps
            engine = try EngineCore(
                loop: loop, rules: options.rules, shards: max(1, options.shards), pinsShards: options.pinsShards,
                makeTransports: try options.transport.makeFactories(), apps: apps,
                load: { shard, place in
                    known.load(into: shard, at: place)
                    try others?.load(into: shard, at: place, apps: apps)
                })
            interruption = try Wakeup(loop: loop) { [unowned self] in stop(interrupted: true) }
            nextStep = try Wakeup(loop: loop) { [unowned self] in step() }
            for signal in [SignalWatcher.Signal.interrupt, .terminate] {
                signals.append(
                    try SignalWatcher(loop: loop, signal: signal) { [unowned self] in stop(interrupted: true) })
            }
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
        engine.onCompleted = { [unowned self] serial, at in
            lastDelivery = max(lastDelivery, at)
            goals.completed(serial, at: at)
        }
        engine.onReport = { [unowned self] in self.output.report($0) }
        engine.onMisconfigured = { [unowned self] text in
            guard !isOver else { return }
            self.output.report(text)
            stop(interrupted: true)
        }
        engine.onReady = { [unowned self] in begin() }
        engine.onQuiet = { [unowned self] in stop(interrupted: false) }
        engine.onRelief = { [unowned self] in step() }
        for path in summary.skippedFiles { output.report("\(path): not a feed, skipped") }
    }

    /// Subscribers of a live feed, whose topics nobody knows beforehand: all of them follow each topic as it appears.
    private var liveSubscribers: SyntheticSubscribers?
    private var liveTopics: Set<TopicID> = []

    /// From any thread: the replay stops and `run` returns with the figures so far.
    public var interrupt: @Sendable () -> Void {
        let signal = interruption?.signal
        return { signal?.signal() }
    }

    /// Runs to the end of the feed and until everybody has the last state, or until interrupted. Once.
    public func run() -> ReplaySummary {
        startedAt = Clock.monotonicNanoseconds()
        lastDelivery = startedAt
        stall.since = startedAt
        cpuAtStart = Clock.processCPUNanoseconds()
        // Connections open first, as they would be before a match; a network that does not answer holds up no decision.
        pacing?.start(after: Replay.readinessMax)
        loop.run()
        let cpu = Clock.processCPUNanoseconds() - cpuAtStart
        engine.stop()
        summary.counts = engine.counts
        summary.freshness = engine.freshness
        summary.undelivered = summary.counts.owed
        summary.goals = goals.all
        summary.whatIf = tally?.total
        summary.seconds = Double(max(lastDelivery, startedAt) - startedAt) / 1e9
        let sent = summary.counts.pushes.sent
        if sent > 0 { summary.cpuMicrosecondsPerPush = Double(cpu) / 1e3 / Double(sent) }
        summary.peakResidentBytes = Clock.peakResidentBytes()
        source.close()
        return summary
    }

    /// One NDJSON line per topic, in order of appearance: what `--states` prints.
    public func writeStates(to write: ([UInt8]) -> Void) {
        for topic in engine.topics {
            line.removeAll(keepingCapacity: true)
            topic.write(to: &line)
            write(line)
        }
    }

    // MARK: The feed

    private static let readinessMax = Duration.seconds(2)

    private func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        startedAt = Clock.monotonicNanoseconds()
        watch?.start(after: .milliseconds(200), repeating: .milliseconds(200))
        source.onItems = { [unowned self] in step() }
        source.start()
        step()
    }

    /// Events per turn of the loop at full speed; then completions have their turn.
    private static let eventsPerTurn = 512

    private func step() {
        guard !isOver else { return }
        for _ in 0..<Replay.eventsPerTurn {
            // Full is an answer: the feed waits until the shards have taken what they have.
            if engine.isCongested { return }
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
            let wait = pace.wait(until: moment, now: Clock.monotonicNanoseconds())
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
        summary.events += 1
        progress.now = now
        goals.ingested(at: Clock.monotonicNanoseconds())
        switch item {
        case .event(let event):
            welcome(event.topic)
            engine.apply(event, now: now)
        case .rejected(let rejection):
            engine.reject(rejection, now: now)
        }
    }

    private func feedIsEmpty() {
        if source.isAtEnd {
            finish()
        } else if let deadline = nextDeadline, let now = progress.now {
            // Live and nothing new: log time goes on with the wall clock, so that what waits for its interval is not held up
            // by a feed that has gone quiet.
            let wait = source.sinceLastItem(now: Clock.monotonicNanoseconds(), toReach: deadline - now)
            if wait > .zero {
                pacing?.start(after: wait)
            } else {
                advance(to: deadline)
                progress.now = deadline
                source.ticked(by: deadline - now)
                nextStep?.signal.signal()
            }
        }
    }

    /// The feed is over; everybody is owed the last state before the replay is.
    private func finish() {
        isOver = true
        engine.finish()
        if let show = output.preview { preview?.finish(show: show) }
        engine.askForQuiet()
    }

    private func stop(interrupted: Bool) {
        isOver = true
        summary.interrupted = interrupted
        loop.stop()
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
        if let publication, record.origin == .event, record.kind == "goal" { goals.scored(publication) }
        if record.outcome == .rejected {
            // What could not be read has its place in the reason; what could not be accepted has a topic.
            output.report(record.topic.map { "\($0): \(record.reason)" } ?? record.reason)
        }
        guard let write = output.decision else { return }
        line.removeAll(keepingCapacity: true)
        record.write(to: &line)
        write(line)
    }

    private func look() {
        let now = Clock.monotonicNanoseconds()
        progress.events = summary.events
        progress.updates = summary.updates
        progress.counts = engine.counts
        progress.seconds = Double(now - startedAt) / 1e9
        progress.fraction = eventsExpected.map { $0 == 0 ? 1 : Double(summary.events) / Double($0) }
        output.progress?(progress)
        let accepted = progress.counts.pushes.accepted
        if accepted != stall.accepted || progress.counts.owed == 0 {
            stall = (accepted, now)
        } else if now - stall.since > options.patience.milliseconds * 1_000_000 {
            output.report(
                "gave up: nothing was accepted for \(options.patience.milliseconds / 1000) s while "
                    + "\(progress.counts.owed) activities were owed an update")
            stop(interrupted: true)
        }
    }
}

/// Why a replay could not begin: one line for people.
public struct ReplayError: Error, CustomStringConvertible, Sendable {
    public let description: String
}
