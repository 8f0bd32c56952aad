import FanfareLog
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

/// Which completions of an earlier process a restart believes.
@Suite struct EarlierCompletionsTests {
    private static func publication(version: UInt32, goals: Int64) -> Publication {
        Publication.test(
            UInt64(version), numbered: TopicNumber(place: 0, birth: 7), kind: .generic, state: ["goals": .int(goals)])
    }

    private static func completions(of publication: Publication) -> EarlierCompletions {
        var completions = EarlierCompletions()
        let completion = TopicCompletion(publication, before: FeedTime(seconds: 1_790_000_000))
        completions.insert(
            StoredCompletion(completion, app: nil, serials: 0), at: CompletionKey(birth: 7, app: 0))
        return completions
    }

    /// A goal that is cancelled leads back to a state of before, which not all need have: those whom the goal had reached may lack it.
    @Test func aCompletionIsOfOneVersionEvenIfAnotherShowsTheSame() {
        let completions = Self.completions(of: Self.publication(version: 1, goals: 0))
        #expect(completions.isOf(Self.publication(version: 1, goals: 0), app: nil))
        #expect(!completions.isOf(Self.publication(version: 3, goals: 0), app: nil))
        #expect(completions.outdated(by: [Self.publication(version: 1, goals: 0)]).isEmpty)
        #expect(completions.outdated(by: [Self.publication(version: 3, goals: 0)]) == [CompletionKey(birth: 7, app: 0)])
    }

    /// Two builds may show something else by one version.
    @Test func aCompletionIsOfWhatItsVersionShows() {
        let completions = Self.completions(of: Self.publication(version: 1, goals: 0))
        #expect(!completions.isOf(Self.publication(version: 1, goals: 1), app: nil))
        #expect(completions.outdated(by: [Self.publication(version: 1, goals: 1)]).count == 1)
    }

    /// What is decided again by another build may be decided otherwise; what a checkpoint has was decided by the one before.
    @Test func anotherBuildChangesSomethingIfItHasDecidedAgain() {
        func changedAt(hasDecided: Bool, text: String = "rules") -> LogPosition? {
            var recall = EngineCore.Recall()
            #expect(recall.adopt(LogRules(text: "rules", program: 1), at: 5) == .asTheFirst)
            recall.hasDecided = hasDecided
            let adoption = recall.adopt(LogRules(text: text, program: 2), at: 9)
            #expect((adoption == .asOthers) == (recall.changedAt != nil))
            return recall.changedAt
        }
        #expect(changedAt(hasDecided: true) == 9)
        #expect(changedAt(hasDecided: false) == nil)
        #expect(changedAt(hasDecided: false, text: "other rules") == 9)
    }
}
