import Fanfare
import FanfareDecisions
import FanfareFanOut
import FanfareLoop
import FanfareModel

/// Counts and times of a running replay, and the summary made of them.
struct ReplayFigures {
    private var summary = ReplaySummary()
    private var goals: GoalClock
    private var tally: DecisionTally?
    /// Log time of the last event or timer.
    private var logTime: FeedTime?
    private let eventsExpected: Int?
    private var startedAt = MonotonicTime.always
    /// CPU time of the process in nanoseconds, before the replay ran.
    private var cpuBefore: Int64 = 0
    private var cpuUsed: Int64 = 0

    init(_ plan: ReplayPlan) {
        summary.skippedFiles = plan.skippedFiles
        goals = GoalClock(goalsMax: plan.goalsMax)
        tally = plan.options.countsWhatIf ? DecisionTally(essentialIn: [plan.options.rules]) : nil
        eventsExpected = plan.eventsExpected
    }

    // MARK: While it runs

    /// Starts the clocks while connections open.
    mutating func connect(at now: MonotonicTime) {
        startedAt = now
        cpuBefore = Clock.processCPUNanoseconds()
    }

    /// Restarts the clock when the feed begins, and notes what the subscribers follow.
    mutating func begin(with counts: ShardCounts, at now: MonotonicTime) {
        startedAt = now
        summary.lineups = counts.lineups
    }

    mutating func noteEvent(at now: MonotonicTime, logTime: FeedTime) {
        summary.events += 1
        self.logTime = logTime
        goals.ingested(at: now)
    }

    mutating func note(_ store: StoreCounts) { summary.store = store }
    mutating func noteRecall(of entries: Int) { summary.recall.entries = entries }

    /// Notes a record of an earlier run, whose rejections decide about this run's exit status, too.
    mutating func note(recalledRejections count: UInt64) { summary.recall.rejections += Int(clamping: count) }

    mutating func note(recalled record: DecisionRecord) {
        if record.outcome == .rejected { summary.recall.rejections += 1 }
    }

    mutating func noteTime(_ logTime: FeedTime) { self.logTime = logTime }

    mutating func note(_ record: DecisionRecord, _ publication: Publication?) {
        summary.decisions.note(record, isUpdate: publication != nil)
        tally?.note(record, publication)
        if let topic = record.topic, record.origin == .event, record.kind == "goal",
            [.published, .conflated].contains(record.outcome)
        {
            goals.scored(in: topic)
        }
        if let publication { goals.carried(by: publication) }
    }

    mutating func noteCompletion(of serial: UInt64, of topic: TopicID, at moment: MonotonicTime?) {
        goals.completed(serial, of: topic, at: moment)
    }

    mutating func noteOvertaken(_ serial: UInt64, of topic: TopicID) { goals.overtaken(serial, of: topic) }
    mutating func note(_ fate: ActivityFate) { summary.fates.note(fate) }

    /// Notes that the replay was interrupted or gave up its transport.
    mutating func noteInterruption() { summary.interrupted = true }

    func progress(with counts: ShardCounts, at now: MonotonicTime) -> ReplayProgress {
        var progress = ReplayProgress()
        progress.now = logTime
        progress.events = summary.events
        progress.updates = summary.decisions.updates
        progress.counts = counts
        progress.seconds = Double(now.nanoseconds(since: startedAt)) / 1e9
        let expected = eventsExpected.map { max(0, $0 - summary.recall.entries) }
        progress.fraction = expected.map { $0 == 0 ? 1 : Double(summary.events) / Double($0) }
        return progress
    }

    // MARK: At its end

    /// Stops the CPU clock: later work is not the replay's.
    mutating func stop() { cpuUsed = Clock.processCPUNanoseconds() - cpuBefore }

    /// - Parameter everybodyHasAll: `true` if every activity has its newest state, with the push that was accepted last. Overtaken goals
    ///   then end at that push, so their times include the rest of the recording.
    mutating func finish(
        counts: ShardCounts, freshness: FreshnessReport, everybodyHasAll: Bool, at now: MonotonicTime
    ) -> ReplaySummary {
        summary.counts = counts
        summary.freshness = freshness
        // Without an accepted push, nothing has taken time.
        let lastAccepted = freshness.lastAccepted ?? startedAt
        if everybodyHasAll { goals.settled(at: lastAccepted) }
        summary.goals = goals.all
        summary.goalsLeftOut = goals.leftOut
        summary.whatIf = tally?.total
        summary.resources.seconds = Double(now.nanoseconds(since: startedAt)) / 1e9
        summary.resources.deliverySeconds = Double(max(0, lastAccepted.nanoseconds(since: startedAt))) / 1e9
        if counts.pushes.sent > 0 {
            summary.resources.cpuMicrosecondsPerPush = Double(cpuUsed) / 1e3 / Double(counts.pushes.sent)
        }
        summary.resources.peakMemory = .bytes(Int(Clock.peakResidentBytes()))
        return summary
    }
}
