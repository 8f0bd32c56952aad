import FanfareModel
import Testing

@testable import Fanfare

@Suite struct RowCommitTests {
    private let earlier = FeedTime.plausible.lowerBound
    private let later = FeedTime.plausible.lowerBound + .seconds(1)

    @Test func aCommitTellsOfItsChangesAlone() {
        var commit = RowCommit()
        let none = commit.end(kept: [])
        #expect(none == nil && !commit.isWriting)
        commit.begin([false, true, true], joinedAt: earlier, at: .always)
        #expect(commit.isWriting && commit.changesSent == 2)
        let kept = commit.end(kept: [true, false, true])
        #expect(kept == [false, true])
        #expect(!commit.isWriting && commit.changesSent == 2)
        commit.noteReady()
        commit.noteReady()
        #expect(commit.changesSent == 0)
    }

    @Test func aCardIsJoiningUntilItsChangeIsCarriedOut() {
        var commit = RowCommit()
        #expect(commit.joining == nil)
        commit.begin([true, true], joinedAt: earlier, at: .always)
        _ = commit.end(kept: [true, true])
        commit.begin([true], joinedAt: later, at: .always)
        #expect(commit.joining == earlier)
        commit.noteCarriedOut()
        #expect(commit.joining == earlier)
        commit.noteCarriedOut()
        #expect(commit.joining == later)
        commit.noteCarriedOut()
        #expect(commit.joining == nil)
    }

    /// Rows that only go delay no decision.
    @Test func aCommitWithoutChangesLetsNoCardJoin() {
        var commit = RowCommit()
        commit.begin([false, false], joinedAt: earlier, at: .always)
        #expect(commit.isWriting && commit.joining == nil && commit.changesSent == 0)
    }
}
