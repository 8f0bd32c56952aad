import Fanfare
import FanfareFanOut
import FanfareModel

/// Output of a running replay: the decision log, lines for people, and progress. Confined to the replay's loop.
final class ReplayJournal {
    private let output: ReplayOutput
    private let clock: ClockSource
    private var reports = ReportLog()
    private var rejections = RejectionReports()
    /// Buffer for one line, kept to reuse its memory.
    private var line: [UInt8] = []

    init(_ output: ReplayOutput, clock: ClockSource) {
        self.output = output
        self.clock = clock
    }

    /// Is `true` when the reader of the decision log is behind; the feed then waits.
    var isFull: Bool { output.isFull?() == true }

    func report(_ line: String) { output.report(line) }

    /// Reports the line at most once a minute, with the number of equal lines in between.
    func reportOnce(_ line: String) {
        if let line = reports.admit(line, at: clock.monotonic()) { output.report(line) }
    }

    func note(_ record: DecisionRecord) {
        if record.outcome == .rejected {
            // A line that could not be parsed has its place in the reason; an event that was rejected has a topic.
            let line = record.topic.map { "\($0): \(record.reason)" } ?? record.reason
            for line in rejections.admit(line, at: clock.monotonic()) { output.report(line) }
        }
        write(record, to: output.decision)
    }

    /// Passes over records that an earlier run has written, and that are not decided again.
    func skip(_ records: UInt64) { output.skippedDecisions?(records) }

    /// Writes a record of an earlier run.
    func note(recalled record: DecisionRecord) { write(record, to: output.recalledDecision) }

    private func write(_ record: DecisionRecord, to write: (([UInt8]) -> Void)?) {
        guard let write else { return }
        line.removeAll(keepingCapacity: true)
        record.write(to: &line)
        write(line)
    }

    func show(_ progress: ReplayProgress) { output.progress?(progress) }

    /// Writes the last reports. To be called when nothing more is decided.
    func finish(_ summary: ReplaySummary) {
        if let line = rejections.finish() { output.report(line) }
        if summary.recall.rejections > 0 {
            output.report("\(summary.recall.rejections) rejected by earlier runs; the decision log has all of them")
        }
        if summary.decisions.updates == 0, summary.decisions.outcomes[.unchanged, default: 0] > 0 {
            output.report(
                "nothing of the feed was visible: `fanfare explain FEED --topic T --all` says of each event why")
        }
    }
}
