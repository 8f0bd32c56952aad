import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareLog

@Suite struct CommitFiguresTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    @Test func aCommitIsMeasuredFromItsFirstTryUntilItIsDurable() {
        var figures = CommitFigures()
        figures.begin(at: Self.time(100))
        #expect(figures.times.count == 0 && figures.trouble == nil)
        #expect(figures.running(at: Self.time(130)) == .milliseconds(30))
        figures.fail("the disk is full")
        #expect(figures.trouble == "the disk is full" && figures.running(at: Self.time(150)) == .milliseconds(50))
        figures.end(at: Self.time(400))
        #expect(figures.times.count == 1 && figures.times.max == .milliseconds(300))
        #expect(figures.trouble == nil && figures.running(at: Self.time(500)) == nil)
    }

    @Test func aCommitThatIsGivenUpIsNotCounted() {
        var figures = CommitFigures()
        figures.begin(at: Self.time(100))
        figures.fail("the disk is full")
        figures.giveUp()
        #expect(figures.times.count == 0 && figures.trouble == nil && figures.running(at: Self.time(500)) == nil)
    }

    @Test func aCommitThatHasJustBegunHasRunForNoTime() {
        var figures = CommitFigures()
        figures.begin(at: Self.time(100))
        #expect(figures.running(at: Self.time(99)) == .zero)
    }

    @Test func whatAPartHasStaysFromOneCommitToTheNext() {
        var figures = CommitFigures()
        var size = DiskSize()
        (size.written, size.file, size.map) = (.bytes(7), .kibibytes(8), .mebibytes(1))
        figures.note(size, rows: 3, newest: 9)
        figures.begin(at: Self.time(1))
        figures.end(at: Self.time(2))
        #expect(figures.size == size && figures.rows == 3 && figures.newest == 9)
    }
}
