import Testing

@testable import CrashTest

/// The judge of an operator's inspection: it is content with outputs that agree, and sees each that does not.
@Suite struct StoreInspectionTests {
    private static let good: [StoreInspection.Step: String] = [
        .countCards: "cards    12\nlineups  1\nbegan    from 2026-06-13T14:00:00.000Z to 2026-06-13T15:00:00.000Z\n",
        .checkCards: "good: 12 cards\n",
        .prune: "removed 2 cards: 0 that began before 2026-06-13T02:00:00.000Z, 2 that a later one replaces\n",
        .checkPruned: "good: 10 cards\n",
        .checkLog:
            "good: 4,012 entries (event 4,000, tick 12); from A to B; a checkpoint of entry 1,001 and 4,002; claims 3, completions 2\n",
        .trim: "removed 3,001 entries; a restart begins with the checkpoint of entry 4,002\n",
        .checkTrimmed: "good: 1,011 entries (event 1,011); from A to B; a checkpoint of entry 1,001 and 4,002\n",
    ]

    /// Returns what the judge says of a good inspection with one other output.
    private func complaints(_ step: StoreInspection.Step? = nil, _ output: StoreInspection.Output = .init()) -> [String]
    {
        var inspection = StoreInspection(expecting: 9...12)
        for one in StoreInspection.Step.allCases {
            inspection.take(one == step ? output : .init(text: Self.good[one] ?? ""), of: one)
        }
        return inspection.complaints
    }

    private func sees(_ words: String, _ step: StoreInspection.Step, _ text: String) {
        let found = complaints(step, .init(text: text))
        #expect(found.contains { $0.contains(words) }, "\(found)")
    }

    @Test func outputsThatAgreeAreGood() {
        let found = complaints()
        #expect(found.isEmpty, "\(found)")
    }

    @Test func aCommandThatFailsIsNamed() {
        let found = complaints(.checkLog, .init(status: 1, errors: "fanfare log: entry 7: its checksum is wrong\n"))
        #expect(found.first == "`fanfare log check` ends with 1: fanfare log: entry 7: its checksum is wrong ")
        for step in StoreInspection.Step.allCases { sees("says no number", step, "good\n") }
    }

    @Test func countsOfCardsThatDifferAreSeen() {
        sees("finds 11 cards, and `fanfare people stats` has counted 12", .checkCards, "good: 11 cards\n")
        sees("finds 8 cards, and 9 are acknowledged", .checkCards, "good: 8 cards\n")
        sees("finds 11 cards after `fanfare people prune`, which has left 10", .checkPruned, "good: 11 cards\n")
        sees(
            "finds 8 cards after `fanfare people prune`, and from 9 to 12 may be there", .checkPruned, "good: 8 cards\n"
        )
        sees(
            "finds 13 cards after `fanfare people prune`, and from 9 to 12 may be there", .checkPruned,
            "good: 13 cards\n")
    }

    @Test func aPruningThatRemovesAnythingElseIsSeen() {
        let pruned = "that began before 2026-06-13T02:00:00.000Z"
        sees("removes 2 cards for their age", .prune, "removed 2 cards: 2 \(pruned), 0 that a later one replaces\n")
        sees("has removed 3 cards, and 0 and 2", .prune, "removed 3 cards: 0 \(pruned), 2 that a later one replaces\n")
        sees("does not say what it has removed", .prune, "removed 2 cards\n")
    }

    @Test func aTrimmingThatRemovesAnythingElseIsSeen() {
        sees(
            "finds 1012 entries after `fanfare log trim`, which has left 1011", .checkTrimmed,
            "good: 1,012 entries; a checkpoint of entry 4,002\n")
        sees(
            "keeps the checkpoint of entry 4003", .trim,
            "removed 3,001 entries; a restart begins with the checkpoint of entry 4,003\n")
        sees(
            "finds the checkpoints 1001 after `fanfare log trim`, which has kept 4002", .checkTrimmed,
            "good: 1,011 entries; a checkpoint of entry 1,001\n")
    }

    @Test func aStoreWithoutACheckpointCannotBeTrimmed() {
        let refusal = StoreInspection.Output(
            status: 2, errors: "fanfare log: store: has no checkpoint yet. A program writes one\n")
        let found = complaints(.trim, refusal)
        #expect(
            found.contains { $0.contains("finds no checkpoint, and `fanfare log check` has found 1001 and 4002") },
            "\(found)")
        var inspection = StoreInspection(expecting: 0...0)
        for step in [StoreInspection.Step.checkLog, .checkTrimmed] {
            inspection.take(.init(text: "good: 7 entries (event 7)\n"), of: step)
        }
        inspection.take(refusal, of: .trim)
        #expect(inspection.complaints.isEmpty, "\(inspection.complaints)")
    }
}
