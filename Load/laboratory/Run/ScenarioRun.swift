import Fanfare
import FanfareDecisions
import FanfareFanOut
import FanfareLoop
import FanfareModel

/// One run of a scenario through the whole engine. The core works on the calling thread, each shard and the generator on one of their own.
///
/// The course: subscribers are loaded, connections open, the topics begin; then the schedule runs, of which the warm-up is not counted;
/// then the last pushes have `drain` to arrive.
package final class ScenarioRun {
    private enum Stage { case connecting, opening, settling, running, draining, over }

    private let plan: RunPlan
    private let loop: Loop
    private var core: EngineCore
    /// Log from which the next engine goes on, in a scenario with a restart.
    private let log: RunLog?
    private let output: RunOutput
    private let recorder: RunRecorder
    private var meter: DecisionMeter
    private var time: RunTime
    private var opening: Opening
    private var generator: Generator?
    private var stage = Stage.connecting
    private let madeAt = Clock.monotonicNanoseconds()
    /// Events of the measurement that were decided, and those decided before it was over.
    private var events = (decided: 0, inTime: 0)
    private var wakeup: Wakeup?
    private var timers = Timers()

    private struct Timers {
        /// For the decisions' next deadline, the measurement's start, the end of the drain, and progress.
        var deadline: LoopTimer?
        var measurement: LoopTimer?
        var drain: LoopTimer?
        var turns: TurnTimer?
        var watch: LoopTimer?
        var restart: LoopTimer?
    }

    private var interrupts: [SignalWatcher] = []

    /// - Throws: `LaboratoryError` for what keeps the run from beginning.
    package init(_ scenario: Scenario, output: RunOutput) throws {
        self.output = output
        plan = try RunPlan(scenario)
        let setup = plan.setup
        recorder = RunRecorder(scenario, setup.plan.shelf, plan.companions)
        meter = DecisionMeter(setup.table, topics: plan.schedule.topics)
        meter.goalsMayRepeat = scenario.feed.kind != .football
        time = RunTime(plan.clock)
        opening = Opening(plan)
        loop = try Loop()
        log = scenario.restartAt == nil ? nil : try RunLog()
        core = try ScenarioRun.core(plan, loop, output)
        try log?.recall(into: core)
        core.delegate = self
        wakeup = try Wakeup(loop: loop) { [unowned self] in turn() }
        timers.deadline = LoopTimer(loop: loop) { [unowned self] in turn() }
        timers.measurement = LoopTimer(loop: loop) { [unowned self] in look() }
        timers.turns = TurnTimer(loop) { [unowned self] turn, _ in recorder.noteTurn(turn) }
        timers.restart = LoopTimer(loop: loop) { [unowned self] in restart() }
        timers.drain = LoopTimer(loop: loop) { [unowned self] in
            recorder.isCutOff = true
            halt()
        }
        interrupts = try [.interrupt, .terminate].map { signal in
            try SignalWatcher(loop: loop, signal: signal) { [unowned self] in interrupt() }
        }
        timers.watch = LoopTimer(loop: loop) { [unowned self] in look() }
    }

    private static func core(_ plan: RunPlan, _ loop: Loop, _ output: RunOutput) throws -> EngineCore {
        let (setup, population) = (plan.setup, plan.population)
        return try EngineCore(
            loop: loop, shards: plan.scenario.shards,
            makeTransports: [{ loop, source, context in try ProbedTransport(loop, source, context, setup) }],
            clock: plan.clock, activities: population, isLive: true, report: output.report)
    }

    /// Runs the scenario. To be called once.
    package func run() -> LoadRun {
        LoopThread.nameCurrent(ThreadCost.coreName)
        timers.watch?.start(after: .milliseconds(200), repeating: .milliseconds(200))
        loop.run()
        let report = generator?.stop() ?? Generator.Report()
        let end = now
        recorder.end(situation(at: end))
        meter.close(at: end)
        core.stop(within: .seconds(2))
        recorder.complete(core.counts)
        recorder.finish()
        let remains = plan.setup.remains.withLock { $0 }
        let reading = remains.reduce(into: ProbeReading()) { $0.merge($1.probe.finish()) }
        loop.close()
        return RunFigures(
            scenario: plan.scenario, schedule: plan.schedule, meter: meter, recorder: recorder, generator: report,
            population: plan.population, followers: plan.followers(), reading: reading, remains: remains,
            start: plan.start.moment, events: events,
            seconds: plan.setup.plan.shelf.all, whole: now - madeAt
        ).result()
    }

    private var now: Int64 { Clock.monotonicNanoseconds() }

    // MARK: The opening

    /// Begins the topics, so that everybody has a card with a running match when the schedule starts.
    private func open() {
        let now = advance()
        while !core.isCongested {
            guard let events = opening.next(at: now) else {
                stage = .settling
                return core.settle { [unowned self] _ in begin() }
            }
            keep(events, at: now)
            for event in events { core.apply(event, now: now) }
            if opening.isTurnOver { break }
        }
        if !core.isCongested { wakeup?.signal.signal() }
    }

    private func begin() {
        guard stage == .settling else { return }
        guard output.ready() else { return interrupt() }
        stage = .running
        let moment = now + 20_000_000
        let measured = plan.schedule.measured
        plan.start.set(moment)
        meter.measured = moment + measured.lowerBound..<moment + measured.upperBound
        recorder.begin(at: meter.measured.lowerBound)
        timers.measurement?.start(after: .nanoseconds(meter.measured.lowerBound - now))
        if let at = plan.scenario.restartAt {
            timers.restart?.start(after: at + .nanoseconds(meter.measured.lowerBound - now))
        }
        guard let signal = wakeup?.signal else { return }
        do {
            generator = try Generator(
                plan.schedule, opening.script, start: moment, wall: Clock.wallMilliseconds() + 20,
                wake: { signal.signal() })
        } catch {
            output.report("the generator's thread could not be started: \(error)")
            halt()
        }
    }

    // MARK: The schedule

    /// Nanoseconds.
    private static let connectingMax: Int64 = 30_000_000_000
    private static let inputsPerTurn = 512
    /// Inputs between two looks at the way to the shards.
    private static let inputsAtATime = 32

    private func turn() {
        switch stage {
        case .opening: open()
        case .running: take()
        case .connecting, .settling, .draining, .over: _ = advance()
        }
    }

    private func take() {
        guard let generator else { return }
        let time = advance()
        var left = ScenarioRun.inputsPerTurn
        while left > 0, !core.isCongested {
            // Asked before the inputs are taken: what was handed over before the end is then found.
            let isOver = generator.isOver
            let taken =
                log == nil
                ? generator.drain(limit: ScenarioRun.inputsAtATime) { carryOut($0, time) }
                : takeDurably(generator, time)
            left -= max(1, taken)
            if taken == 0 {
                // Stalls, steps of the clock and timers come after the last arrival, too.
                let rest = isOver ? meter.measured.upperBound - now : .max
                return rest > 0 ? wait(from: time, atMost: rest) : finish()
            }
        }
        if !core.isCongested { wakeup?.signal.signal() }
    }

    private func carryOut(_ input: consuming LoadInput, _ time: FeedTime) {
        switch input {
        case .event(let event, let planned, let occasion):
            let now = now
            if meter.measured.contains(planned) {
                events.decided += 1
                events.inTime += now < meter.measured.upperBound ? 1 : 0
            }
            meter.cause = DecisionMeter.Cause(topic: event.topic, planned: planned, occasion: occasion)
            meter.noteTaken(at: now)
            meter.deadline = now
            core.apply(event, now: time)
            meter.cause = nil
        case .follow(let subscriber):
            core.send(plan.population.follow(subscriber), forSubscriber: plan.population.key(of: subscriber))
        case .unfollow(let subscriber):
            core.send(plan.population.unfollow(subscriber), forSubscriber: plan.population.key(of: subscriber))
        case .rotate(let subscriber, let planned):
            core.send(
                plan.population.rotate(subscriber, planned: planned), forSubscriber: plan.population.key(of: subscriber)
            )
        }
    }

    /// Advances log time, each timer at its own deadline.
    private func advance() -> FeedTime {
        let (now, moment) = time.advance()
        if let deadline = core.nextDeadline, deadline <= now { keepTick(at: now) }
        while let deadline = core.nextDeadline, deadline <= now {
            meter.deadline = moment.monotonic.nanoseconds - (now - deadline).wholeNanoseconds
            core.advance(to: deadline)
        }
        return now
    }

    /// - Parameter rest: nanoseconds until the measurement ends; `.max` while arrivals are to come.
    private func wait(from time: FeedTime, atMost rest: Int64) {
        var wait = core.nextDeadline.map { max(.milliseconds(1), $0 - time) }
        if rest < .max { wait = min(wait ?? .nanoseconds(rest), .nanoseconds(rest)) + .milliseconds(1) }
        if let wait { timers.deadline?.start(after: wait) }
    }

    private func finish() {
        stage = .draining
        meter.deadline = now
        core.finish()
        let rest = meter.measured.upperBound + plan.scenario.drain.wholeNanoseconds - now
        timers.drain?.start(after: .nanoseconds(max(0, rest)))
        core.settle { [unowned self] _ in halt() }
    }

    private func halt() {
        guard stage != .over else { return }
        stage = .over
        loop.stop()
    }

    /// Ends the run early; its figures so far are told, and judged as a fault.
    private func interrupt() {
        recorder.isInterrupted = true
        halt()
    }

    // MARK: Restart

    /// Makes events durable before they are decided.
    private func keep(_ events: [FeedEvent], at now: FeedTime) {
        guard let log, !events.isEmpty else { return }
        do { try log.append(events, at: now) } catch { fail("the run's log: \(error)") }
    }

    private func takeDurably(_ generator: Generator, _ time: FeedTime) -> Int {
        var inputs: [LoadInput] = []
        let taken = generator.drain(limit: ScenarioRun.inputsAtATime) { inputs.append($0) }
        keep(inputs.compactMap(\.event), at: time)
        for input in inputs { carryOut(input, time) }
        return taken
    }

    private func keepTick(at now: FeedTime) {
        guard let log else { return }
        do { try log.appendTick(at: now) } catch { fail("the run's log: \(error)") }
    }

    private func fail(_ text: String) {
        output.report(text)
        interrupt()
    }

    /// Ends the engine without notice, and lets another one go on from its log. Arrivals wait meanwhile.
    private func restart() {
        guard stage == .running, let log else { return }
        let (moment, threads) = (now, ProcessReadings.threads())
        core.stop(within: .zero)
        recorder.noteRestart(at: moment, core.counts, threads: threads)
        meter.noteRestart()
        do {
            try log.reopen()
            core = try ScenarioRun.core(plan, loop, output)
            try log.recall(into: core)
        } catch {
            return fail("the engine could not be restarted: \(error)")
        }
        core.delegate = self
        take()
    }

    // MARK: Watching

    private func situation(at now: Int64) -> RunRecorder.Look {
        RunRecorder.Look(
            now: now, events: events.decided, counts: core.counts, freshness: core.freshness,
            commandsWaiting: core.commandsWaiting, arrivalsWaiting: generator?.waiting ?? 0,
            suppressed: meter.suppressed)
    }

    private func look() {
        let now = now
        recorder.look(situation(at: now))
        output.progress(recorder.progress(at: now, start: plan.start.moment))
        if stage == .settling, opening.isStalled(core.counts.pushes, at: now) { begin() }
        // An engine that takes nothing any more has arrivals left, which the verdict tells.
        if stage == .running, now > meter.measured.upperBound + plan.scenario.drain.wholeNanoseconds {
            recorder.isCutOff = true
            halt()
        }
        if stage == .connecting, now - madeAt > ScenarioRun.connectingMax {
            let seconds = ScenarioRun.connectingMax / 1_000_000_000
            output.report("no connection within \(seconds) s: is the server there, and its authority right?")
            interrupt()
        }
    }
}

/// Log time of a run, as an engine has it.
private struct RunTime {
    private let clock: ThreadClock
    private var log: LogClock

    init(_ source: ClockSource) {
        clock = ThreadClock(source)
        log = LogClock(at: clock.now())
    }

    mutating func advance() -> (now: FeedTime, moment: Moment) {
        let moment = clock.now()
        return (log.advance(to: moment), moment)
    }
}

/// The beginning of a run's topics, some of them in each turn.
private struct Opening {
    private(set) var script: FeedScript
    /// Topics to be begun; a recording begins its topics by itself.
    private let topics: Int
    private var opened = 0
    /// Accepted pushes at their last change, and the moment of that.
    private var answered = (count: -1, at: Int64(0))

    private static let topicsPerTurn = 128

    init(_ plan: RunPlan) {
        script = FeedScript(plan.scenario.feed.kind, topics: plan.schedule.topics)
        topics = plan.schedule.recorded.isEmpty ? plan.schedule.topics.count : 0
    }

    /// Is `true` after so many topics that other callbacks must have their turn.
    var isTurnOver: Bool { opened % Opening.topicsPerTurn == 0 }

    /// Returns the events of the next topic; `nil` when all have begun.
    mutating func next(at now: FeedTime) -> [FeedEvent]? {
        guard opened < topics else { return nil }
        defer { opened += 1 }
        return script.opening(of: opened, at: now)
    }

    /// Is `true` when nothing has been accepted for three seconds: some activities are answered with errors for good, and the opening
    /// does not end by itself.
    mutating func isStalled(_ pushes: ShardCounts.Pushes, at now: Int64) -> Bool {
        guard pushes.accepted == answered.count else {
            answered = (pushes.accepted, now)
            return false
        }
        return now - answered.at > 3_000_000_000
    }
}

extension ScenarioRun: EngineCoreDelegate {
    func coreDidBecomeReady() {
        guard stage == .connecting else { return }
        stage = .opening
        open()
    }
    func coreDidRelieve() { wakeup?.signal.signal() }
    func coreWillPublish(_ publication: Publication) { meter.note(publication, at: now) }
    func coreDidRecord(_ record: DecisionRecord, of publication: Publication?) { meter.note(record) }
    func coreDidComplete(_ serial: UInt64, of topic: TopicID, at moment: MonotonicTime?) {
        meter.complete(serial, of: topic, at: moment?.nanoseconds)
    }
    func coreDidOvertake(_ serial: UInt64, of topic: TopicID) { meter.overtake(serial, of: topic) }
    func coreDidLoseToken(of activity: ActivityID) { meter.noteDeath(of: activity, at: now) }
    func coreDidReport(_ line: String) { output.report(line) }
}

/// Receivers of what a run tells while it goes on. Called on the core's thread.
package struct RunOutput {
    package var report: (String) -> Void
    package var progress: (LoadProgress) -> Void
    /// Called once, when everything is prepared: the schedule starts when it returns `true`, and the run ends if it returns `false`.
    package var ready: () -> Bool

    package init(
        report: @escaping (String) -> Void, progress: @escaping (LoadProgress) -> Void,
        ready: @escaping () -> Bool = { true }
    ) {
        self.report = report
        self.progress = progress
        self.ready = ready
    }
}
