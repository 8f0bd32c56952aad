import FanfareFanOut
import FanfareModel
import Testing

@testable import FanfareCLI
@testable import FanfareReplay

@Suite struct ProgressDisplayTests {
    private func progress(_ seconds: Double, pushes: Int, fraction: Double? = 0.5) -> ReplayProgress {
        var progress = ReplayProgress()
        progress.now = FeedTime(milliseconds: 1_526_220_000_500)
        progress.events = 12_345
        progress.updates = 67
        progress.seconds = seconds
        progress.fraction = fraction
        progress.counts.activities = 1000
        progress.counts.pushes.sent = pushes
        progress.counts.owed = 8
        return progress
    }

    @Test func barRedrawsItselfOnATerminal() {
        var display = ProgressDisplay(columns: 120)
        _ = display.show(progress(1, pushes: 1000))
        #expect(
            display.show(progress(1.5, pushes: 2000))
                == "\r\u{1B}[J[============            ] 50%  2018-05-13T14:00:00Z  12,345 events  67 updates  2,000 pushes"
                + "  2,000/s  8 to go")
        #expect(display.clear() == "\r\u{1B}[J")
    }

    /// A line as wide as the terminal would wrap, and the next one would not draw over it.
    @Test(arguments: [1, 10, 40, 80]) func barFitsTheTerminal(columns: Int) {
        var display = ProgressDisplay(columns: columns)
        let drawn = display.show(progress(1, pushes: 1))
        #expect(drawn.count < columns)
    }

    @Test func reportsStandAboveTheBar() {
        var display = ProgressDisplay(columns: 40)
        let bar = display.show(progress(1, pushes: 1))
        #expect(display.interrupt(with: "day.ndjson:3: broken") == "\r\u{1B}[Jday.ndjson:3: broken\n\(bar)")
    }

    private var preview: LineupPreview.ShownCard {
        LineupPreview.ShownCard(
            at: FeedTime(milliseconds: 1_526_220_000_500), isEnd: false,
            content: .init(
                rows: [
                    .init(topic: "match/1", compactLeading: "ADA", compactTrailing: "1-0", minimal: "1-0"),
                    .init(topic: "match/2", compactLeading: "B", compactTrailing: "12-0", minimal: "12-0"),
                ], more: 0, spotlight: 1, state: ["score": 12], highlight: "score", link: nil),
            alert: nil, priority: .immediate, size: .bytes(100))
    }

    private static let card = """
        2018-05-13T14:00:00.500Z  rotation
              ADA | 1-0
            > B   | 12-0  score 12
        """

    @Test func theCardStandsAboveTheBarAndIsDrawnOver() {
        var display = ProgressDisplay(columns: 200)
        let bar = display.show(progress(1, pushes: 1))
        #expect(display.show(preview) == "\r\u{1B}[J\(Self.card)\n\(bar)")
        #expect(display.show(preview) == "\u{1B}[3A\r\u{1B}[J\(Self.card)\n\(bar)")
        #expect(display.clear() == "\u{1B}[3A\r\u{1B}[J")
        var narrow = ProgressDisplay(columns: 10)
        #expect(narrow.show(preview).split(separator: "\n").allSatisfy { $0.count < 10 })
        var plain = ProgressDisplay(columns: nil)
        #expect(plain.show(preview) == Self.card + "\n")
    }

    @Test func plainLinesComeEveryFewSeconds() {
        var display = ProgressDisplay(columns: nil)
        let lines = stride(from: 0.5, through: 20, by: 0.5).map { display.show(progress($0, pushes: 100)) }
        let written = lines.filter { !$0.isEmpty }
        #expect(written.count == 4)
        #expect(written.allSatisfy { $0.hasSuffix("\n") && !$0.contains("\u{1B}") })
        #expect(display.interrupt(with: "trouble") == "trouble\n")
        #expect(display.clear() == "")
    }

    /// The line that docs/operations.md explains.
    @Test func aPlainLineCountsWhatIsToGoAndNamesTheLimit() {
        var progress = progress(5, pushes: 23, fraction: nil)
        progress.now = FeedTime(rfc3339: "2026-06-13T14:10:04Z")
        (progress.events, progress.updates) = (4, 3)
        progress.counts.owed = 200
        progress.counts.transport.limit = .peer
        var display = ProgressDisplay(columns: nil)
        let line = display.show(progress)
        #expect(line == "2026-06-13T14:10:04Z  4 events  3 updates  23 pushes  4/s  200 to go  waits for peer\n")
    }

    @Test func aLiveFeedHasNoBar() {
        var display = ProgressDisplay(columns: 100)
        let text = display.show(progress(1, pushes: 1, fraction: nil))
        #expect(!text.contains("["))
        #expect(!text.contains("%"))
    }
}
