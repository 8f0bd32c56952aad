import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// What a shard says of its own work.
@Suite struct ShardProgressTests {
    private let stage = EmbeddedShard()

    private var progress: ShardProgress { stage.shard.progress }

    /// Questions answered since the last read.
    private func answered() -> [UInt64] {
        stage.feedback().compactMap { if case .quiet(let question, _) = $0 { question } else { nil } }
    }

    @Test func aShardWithoutActivitiesAnswersAtOnce() {
        progress.ask(1)
        let answered = answered()
        #expect(answered == [1] && progress.isQuiet && progress.demand == 0)
    }

    @Test func anOwedVersionIsCountedAndKeepsAQuestionOpen() {
        stage.follow()
        stage.publish(1)
        progress.ask(1)
        #expect(!progress.isQuiet && progress.demand == 1 && progress.counts.owed == 1)
        let pushes = stage.pull()
        let early = answered()
        #expect(pushes.count == 1 && early.isEmpty && !progress.isQuiet)
        stage.answer(pushes)
        let late = answered()
        #expect(late == [1] && progress.isQuiet)
        #expect(progress.counts.owed == 0 && progress.counts.pushes.accepted == 1)
    }

    @Test func withoutAQuestionNothingIsAnswered() {
        progress.reportIfQuiet()
        let answered = answered()
        #expect(answered.isEmpty)
    }
}
