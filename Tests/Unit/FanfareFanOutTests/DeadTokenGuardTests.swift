import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct DeadTokenGuardTests {
    /// Notes answers, and returns what they have changed.
    private func note(
        _ batches: [(answers: Int, dead: Int)], in tokens: inout DeadTokenGuard
    ) -> [DeadTokenGuard.Change?] {
        batches.map { tokens.note(answers: $0.answers, dead: $0.dead) }
    }

    @Test func guardShutsOnceMoreThanHalfIsDeadAndSaysSoOnce() {
        var tokens = DeadTokenGuard(answers: 10...100)
        let half = note([(10, 5)], in: &tokens)
        #expect(half == [nil] && !tokens.isShut)
        let more = note([(1, 1), (1, 1)], in: &tokens)
        #expect(more == [.shut, nil] && tokens.isShut)
        #expect(tokens.answers == 12 && tokens.dead == 7)
    }

    @Test func guardOpensOnceFewerThanAQuarterIsDeadAndSaysSoOnce() {
        var tokens = DeadTokenGuard(answers: 10...100)
        let quarter = note([(10, 10), (30, 0)], in: &tokens)
        #expect(quarter == [.shut, nil] && tokens.isShut)
        let fewer = note([(1, 0), (1, 0)], in: &tokens)
        #expect(fewer == [.opened, nil] && !tokens.isShut)
    }

    @Test func guardStaysAsItIsBetweenTheTwoShares() {
        var open = DeadTokenGuard(answers: 10...1000)
        let never = note([(100, 40), (100, 40)], in: &open)
        var shut = DeadTokenGuard(answers: 10...1000)
        let once = note([(100, 100), (150, 0), (100, 40)], in: &shut)
        #expect(never == [nil, nil] && !open.isShut && once == [.shut, nil, nil] && shut.isShut)
    }

    @Test func aHundredActivitiesAtMostAreRemovedByMistake() {
        var tokens = DeadTokenGuard()
        var removed = 0
        while !tokens.isShut, removed < 1000 {
            removed += 1
            _ = note([(1, 1)], in: &tokens)
        }
        #expect(removed == 100 && tokens.answersMin == 100)
    }

    /// The wrong setting is corrected after a night in which all tokens were answered as dead.
    @Test func aCorrectedSettingShowsAfterTwiceAsManyAnswersAsAreRememberedAtMost() {
        var tokens = DeadTokenGuard()
        _ = note([(1_000_000, 1_000_000)], in: &tokens)
        #expect(tokens.answers <= tokens.answersMax && tokens.dead == tokens.answers)
        var accepted = 0
        while tokens.isShut, accepted < 10_000 {
            accepted += 1
            _ = note([(1, 0)], in: &tokens)
        }
        #expect(accepted <= 2 * tokens.answersMax && tokens.answers <= tokens.answersMax)
    }

    @Test func anOverruledGuardStaysOpenUntilFewAreDeadAndShutsAgainThen() {
        var tokens = DeadTokenGuard(answers: 10...20)
        _ = note([(10, 10)], in: &tokens)
        tokens.overrule()
        #expect(!tokens.isShut)
        // The share falls to a half, and to a quarter, at which the order still holds.
        let meanwhile = note([(10, 10), (20, 0), (20, 0), (10, 10)], in: &tokens)
        #expect(meanwhile == [nil, nil, nil, nil] && !tokens.isShut)
        let few = note([(100, 0)], in: &tokens)
        #expect(few == [nil] && !tokens.isShut, "it was open")
        let many = note([(20, 20)], in: &tokens)
        #expect(many == [.shut] && tokens.isShut)
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func theGuardsCountsNeverContradictEachOther(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let least = Int.random(in: 1...20, using: &random)
        var tokens = DeadTokenGuard(answers: least...least + Int.random(in: 0...100, using: &random))
        for step in 0..<2000 {
            if random.chance(0.02) {
                tokens.overrule()
            } else {
                let answers = Int.random(in: 0...30, using: &random)
                _ = tokens.note(answers: answers, dead: random.chance(0.5) ? answers : answers / 8)
            }
            guard tokens.violation() == nil else {
                Issue.record("seed \(seed), step \(step): \(tokens.violation() ?? "")")
                return
            }
        }
        _ = tokens.note(answers: 0, dead: tokens.answers + 1)
        #expect(tokens.violation() != nil, "more are dead than have answered")
    }

    /// A third of the cards was swiped away, in a random order.
    @Test(arguments: 0..<10 as Range<UInt64>) func noRunOfChanceShutsTheGuard(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var tokens = DeadTokenGuard()
        for step in 0..<20_000 {
            let change = tokens.note(answers: 1, dead: random.chance(0.33) ? 1 : 0)
            guard change == nil else {
                Issue.record("seed \(seed), step \(step): \(tokens.dead) of \(tokens.answers) are dead")
                return
            }
        }
        #expect(tokens.dead > 100, "seed \(seed)")
    }
}
