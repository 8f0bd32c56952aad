import Fanfare
import FanfareFanOut
import FanfareModel

/// What a replay tells while it runs: the decision log, lines for people, and how far it has come. Confined to the replay's loop.
final class ReplayJournal {
    private let output: ReplayOutput
    private let clock: ClockSource
    private var reports = ReportLog()
    private var rejections = RejectionReports()
    /// Kept for its memory.
    private var line: [UInt8] = []

    init(_ output: ReplayOutput, clock: ClockSource) {
        self.output = output
        self.clock = clock
    }

    /// The reader of the decision log is behind: the feed waits.
    var isFull: Bool { output.isFull?() == true }

    func report(_ line: String) { output.report(line) }

    /// An equal line is told once a minute, with how often it came meanwhile.
    func reportOnce(_ line: String) {
        if let line = reports.admit(line, at: clock.monotonicNanoseconds()) { output.report(line) }
    }

    func note(_ record: DecisionRecord) {
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

    func show(_ progress: ReplayProgress) { output.progress?(progress) }

    /// Nothing more is decided.
    func finish(_ summary: ReplaySummary) {
        if let line = rejections.finish() { output.report(line) }
        if summary.updates == 0, summary.decisions[.unchanged, default: 0] > 0 {
            output.report(
                "nothing of the feed was visible: `fanfare explain FEED --topic T --all` says of each event why")
        }
    }
}
