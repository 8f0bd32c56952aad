import FanfareLog
import Testing

@testable import Fanfare

/// Which rules of a log may make its topics show other states than before.
@Suite struct RecalledRulesTests {
    /// Another build may decide entries otherwise; the build before has decided those of a checkpoint.
    @Test func anotherBuildChangesSomethingIfItHasDecidedAgain() {
        func changedAt(hasDecided: Bool, text: String = "rules") -> LogPosition? {
            var recall = RecalledRules()
            let first = recall.adopt(LogRules(text: "rules", program: 1), at: 5)
            #expect(first == .asTheFirst && recall.changedAt == nil)
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
