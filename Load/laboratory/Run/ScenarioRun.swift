import Fanfare
import FanfareDecisions
import FanfareFanOut
import FanfareFeeds
import FanfareLoop
import FanfareModel
import Foundation

/// One run of a scenario through the whole engine. The core works on the calling thread, each shard and the generator on one of their own.
///
/// The course: subscribers are loaded, connections open, the topics begin; then the schedule runs, of which the warm-up is not counted;
/// then the last pushes have `drain` to arrive.
package final class ScenarioRun {
    private enum Stage { case connecting, opening, settling, running, draining, over }

    private let scenario: Scenario
    private let schedule: Schedule
    private let population: Population
    private let companions: Companions
    private let setup: TransportSetup
    private let start = ScheduleStart()
    private let clock: ThreadClock
    private var log: LogClock
    private let loop: Loop
    private let core: EngineCore
    private var meter: DecisionMeter
    private var script: FeedScript
    private var generator: Generator?
    private var stage = Stage.connecting
    private var opened = 0
    private var events = 0
    private let recorder: RunRecorder
    private let output: RunOutput
    private var wakeup: Wakeup?
    private var deadlineTimer: LoopTimer?
    private var watch: LoopTimer?
    private var drainTimer: LoopTimer?
    private var stall = OpeningStall()

    /// - Throws: `LaboratoryError` for what keeps the run from beginning.
    package init(_ scenario: Scenario, output: RunOutput) throws {
        self.scenario = scenario
        self.output = output
        let recording = try ScenarioRun.recording(of: scenario)
        schedule = Schedule(scenario, recording: recording)
        population = Population(scenario, topics: schedule.topics)
        companions = try Companions(scenario)
        // Each event makes a publication at most, and each topic some while it opens; timers make one for several changes.
        let table = PublicationTable(capacity: 2 * schedule.arrivals.count + 4 * schedule.topics.count + 65_536)
        let plan = ProbePlan(schedule, population: population, start: start, shelf: ReadingShelf())
        setup = try TransportSetup(scenario, table, plan, companions)
        meter = DecisionMeter(table)
        script = FeedScript(scenario.feed.kind, topics: schedule.topics)
        let source = ScenarioRun.clockSource(scenario, start)
        clock = ThreadClock(source)
        log = LogClock(at: clock.now())
        loop = try Loop()
        recorder = RunRecorder(scenario, plan.shelf)
        let (setup, population) = (setup, population)
        core = try EngineCore(
            loop: loop, shards: scenario.shards,
            makeTransports: [{ loop, shard, context in try ProbedTransport(loop, shard, context, setup) }],
            clock: source, load: { shard, place, moment in population.load(into: shard, at: place, moment) },
            report: output.report)
        core.delegate = self
        wakeup = try Wakeup(loop: loop) { [unowned self] in turn() }
        deadlineTimer = LoopTimer(loop: loop) { [unowned self] in turn() }
        drainTimer = LoopTimer(loop: loop) { [unowned self] in halt() }
        watch = LoopTimer(loop: loop) { [unowned self] in look() }
    }

    private static func recording(of scenario: Scenario) throws -> [(now: FeedTime, event: FeedEvent)]? {
        switch scenario.feed.source {
        case .rates: return nil
        case .recording(let paths):
            // A path is relative to the folder of the recorded feeds, where one is named.
            let folder = ProcessInfo.processInfo.environment["FANFARE_FEEDS"]
            let found = paths.map { path in folder.map { "\($0)/\(path)" }.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil } ?? path }
            return try Schedule.read(found)
        case .generator(let name):
            guard let feed = GeneratedFeed(rawValue: name) else {
                let names = GeneratedFeed.allCases.map(\.rawValue).joined(separator: ", ")
                throw LaboratoryError("generator \"\(name)\": unknown; expected one of \(names)")
            }
            let path = NSTemporaryDirectory() + "fanfare-load-\(UUID().uuidString).ndjson"
            var bytes: [UInt8] = []
            feed.write(seed: scenario.seed) { bytes += $0 }
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            defer { try? FileManager.default.removeItem(atPath: path) }
            return try Schedule.read([path])
        }
    }

    private static func clockSource(_ scenario: Scenario, _ start: ScheduleStart) -> ClockSource {
        guard let step = scenario.clockStep else { return .system }
        let at = (scenario.warmUp + step.at).wholeNanoseconds
        let by = step.by.milliseconds
        return ClockSource(
            wallMilliseconds: {
                Clock.wallMilliseconds() + (Clock.monotonicNanoseconds() >= start.moment + at ? by : 0)
            }, monotonicNanoseconds: Clock.monotonicNanoseconds)
    }

    /// Runs the scenario. To be called once.
    package func run() -> LoadRun {
        LoopThread.nameCurrent(RunFigures.coreName)
        watch?.start(after: .milliseconds(200), repeating: .milliseconds(200))
        loop.run()
        let report = generator?.stop() ?? Generator.Report()
        recorder.end(core.counts, .now())
        core.stop(within: .seconds(2))
        recorder.finish(companions)
        let remains = setup.remains.withLock { $0 }
        loop.close()
        return RunFigures(
            scenario: scenario, schedule: schedule, meter: meter, recorder: recorder, generator: report,
            remains: remains, start: start.moment, events: events, shelf: setup.plan.shelf
        ).result()
    }

    private var now: Int64 { Clock.monotonicNanoseconds() }

    // MARK: The opening

    private static let topicsPerTurn = 128

    /// Begins the topics, so that everybody has a card with a running match when the schedule starts.
    private func open() {
        let time = advance()
        for _ in 0..<ScenarioRun.topicsPerTurn {
            if core.isCongested { return }
            guard opened < schedule.topics.count, schedule.recorded.isEmpty else {
                stage = .settling
                return core.settle { [unowned self] _ in begin() }
            }
            for event in script.opening(of: opened, at: time) { core.apply(event, now: time) }
            opened += 1
        }
        wakeup?.signal.signal()
    }

    private func begin() {
        guard stage == .settling else { return }
        stage = .running
        let moment = now + 20_000_000
        start.set(moment)
        meter.measured = moment + schedule.measured.lowerBound..<moment + schedule.measured.upperBound
        recorder.begin(at: meter.measured.lowerBound)
        guard let signal = wakeup?.signal else { return }
        do {
            generator = try Generator(
                schedule, script, start: moment, wall: Clock.wallMilliseconds() + 20, wake: { signal.signal() })
        } catch {
            output.report("the generator's thread could not be started: \(error)")
            halt()
        }
    }

    // MARK: The schedule

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
            let taken = generator.drain(limit: ScenarioRun.inputsAtATime) { carryOut($0, time) }
            left -= max(1, taken)
            if taken == 0 {
                if isOver { return finish() }
                return wait(from: time)
            }
        }
        if !core.isCongested { wakeup?.signal.signal() }
    }

    private func carryOut(_ input: consuming LoadInput, _ time: FeedTime) {
        switch input {
        case .event(let event, let planned, let occasion):
            events += meter.measured.contains(planned) ? 1 : 0
            meter.cause = DecisionMeter.Cause(topic: event.topic, planned: planned, occasion: occasion)
            meter.deadline = now
            core.apply(event, now: time)
            meter.cause = nil
        case .follow(let subscriber):
            core.send(population.follow(subscriber), forSubscriber: population.key(of: subscriber))
        case .unfollow(let subscriber):
            core.send(population.unfollow(subscriber), forSubscriber: population.key(of: subscriber))
        }
    }

    /// Advances log time, each timer at its own deadline.
    private func advance() -> FeedTime {
        let moment = clock.now()
        let time = log.advance(to: moment)
        while let deadline = core.nextDeadline, deadline <= time {
            meter.deadline = moment.monotonicNanoseconds - (time - deadline).wholeNanoseconds
            core.advance(to: deadline)
        }
        return time
    }

    private func wait(from time: FeedTime) {
        guard let deadline = core.nextDeadline else { return }
        deadlineTimer?.start(after: max(.milliseconds(1), deadline - time))
    }

    private func finish() {
        stage = .draining
        meter.deadline = now
        core.finish()
        drainTimer?.start(after: scenario.drain)
        core.settle { [unowned self] _ in halt() }
    }

    private func halt() {
        guard stage != .over else { return }
        stage = .over
        loop.stop()
    }

    /// Ends the run early; its figures so far are returned. Core's thread only.
    package func interrupt() { halt() }

    // MARK: Watching

    private func look() {
        let now = now
        recorder.look(
            RunRecorder.Look(
                now: now, events: events, counts: core.counts, freshness: core.freshness,
                commandsWaiting: core.commandsWaiting, arrivalsWaiting: generator?.waiting ?? 0))
        output.progress(recorder.progress(at: now, start: start.moment))
        if stage == .settling, stall.isStalled(core.counts.pushes, at: now) { begin() }
    }
}

/// Detects an opening that does not end by itself: some activities are answered with errors for good.
private struct OpeningStall {
    private var answered = -1
    private var since: Int64 = 0

    mutating func isStalled(_ pushes: ShardCounts.Pushes, at now: Int64) -> Bool {
        guard pushes.accepted == answered else {
            (answered, since) = (pushes.accepted, now)
            return false
        }
        return now - since > 3_000_000_000
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
    func coreDidComplete(_ serial: UInt64, of topic: TopicID, at moment: Int64?) {
        meter.complete(serial, of: topic, at: moment)
    }
    func coreDidOvertake(_ serial: UInt64, of topic: TopicID) { meter.overtake(serial, of: topic) }
    func coreDidReport(_ line: String) { output.report(line) }
}

/// Receivers of what a run tells while it goes on. Called on the core's thread.
package struct RunOutput {
    package var report: (String) -> Void
    package var progress: (LoadProgress) -> Void

    package init(report: @escaping (String) -> Void, progress: @escaping (LoadProgress) -> Void) {
        self.report = report
        self.progress = progress
    }
}
