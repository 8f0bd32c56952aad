import FanfareCore
import Testing

@Suite struct RotationTests {
    private let start = FeedTime(seconds: 1000)
    private let goal = 100
    private let card = 60

    private func style(_ change: (inout Rotation.Style) -> Void = { _ in }) -> Rotation.Style {
        var style = Rotation.Style()
        style.dwell = .seconds(20)
        change(&style)
        return style
    }

    private func live(_ importance: [Int]) -> [Rotation.Topic] {
        importance.map { Rotation.Topic(.live, importance: $0) }
    }

    private func after(_ seconds: Int64) -> FeedTime { start + .seconds(seconds) }

    @Test func whatJustHappenedIsHeldThenTheMostImportantComesBack() {
        var rotation = Rotation(style(), at: start)
        let topics = live([10, 50, 50])
        #expect(rotation.wanted(topics, now: start) == 1, "of equals the first in the person's order")
        rotation.happened(at: 0, weight: card, style(), now: start)
        #expect(rotation.position == 0)
        #expect(rotation.wanted(topics, now: after(19)) == 0)
        #expect(rotation.looksAgain(topics, now: start) == after(20))
        #expect(rotation.wanted(topics, now: after(20)) == 1)
    }

    @Test func weightierNewsTakesOverAndLighterWaitsForNothing() {
        var rotation = Rotation(style(), at: start)
        rotation.happened(at: 0, weight: card, style(), now: start)
        rotation.happened(at: 1, weight: goal, style(), now: after(1))
        #expect(rotation.position == 1, "a goal does not wait for a card's dwell")
        rotation.happened(at: 2, weight: card, style(), now: after(2))
        #expect(rotation.position == 1)
        rotation.happened(at: 2, weight: goal, style(), now: after(3))
        #expect(rotation.position == 2, "of equal weight the newer")
        rotation.happened(at: 0, weight: card, style(), now: after(23))
        #expect(rotation.position == 0, "the dwell of the goal is over")
    }

    @Test func moreOfTheSameTopicHoldsItLonger() {
        var rotation = Rotation(style(), at: start)
        rotation.happened(at: 0, weight: goal, style(), now: start)
        rotation.happened(at: 0, weight: card, style(), now: after(10))
        rotation.happened(at: 1, weight: card, style(), now: after(25))
        #expect(rotation.position == 0)
        #expect(rotation.wanted(live([0, 50]), now: after(29)) == 0)
        #expect(rotation.wanted(live([0, 50]), now: after(30)) == 1)
    }

    @Test func whatIsGoneHasNoSpotlight() {
        var rotation = Rotation(style(), at: start)
        rotation.happened(at: 0, weight: goal, style(), now: start)
        #expect(rotation.wanted([.init(.gone), .init(.live)], now: after(1)) == 1)
        #expect(rotation.wanted([.init(.gone), .init(.ended)], now: after(1)) == 1)
        #expect(rotation.wanted([.init(.gone), .init(.gone)], now: after(1)) == nil)
    }

    @Test func endedTopicsKeepTheSpotlightForTheirDwellOnly() {
        var rotation = Rotation(style(), at: start)
        rotation.happened(at: 0, weight: goal, style(), now: start)
        let topics: [Rotation.Topic] = [.init(.ended, importance: 90), .init(.live)]
        #expect(rotation.wanted(topics, now: after(5)) == 0)
        #expect(rotation.wanted(topics, now: after(20)) == 1)
    }

    @Test func nothingMovesWhileNothingIsLive() {
        var rotation = Rotation(style(), at: start)
        rotation.happened(at: 1, weight: goal, style(), now: start)
        let topics: [Rotation.Topic] = [.init(.waiting), .init(.ended)]
        #expect(rotation.wanted(topics, now: after(100)) == 1)
        #expect(rotation.looksAgain(topics, now: after(1)) == nil)
        let mayPush = rotation.mayPush(topics, now: after(100))
        #expect(!mayPush)
    }

    @Test func theFavouriteHasItBackWhileItIsLive() {
        var rotation = Rotation(style(), pinned: 2, at: start)
        #expect(rotation.wanted(live([90, 80, 0]), now: start) == 2)
        rotation.happened(at: 0, weight: card, style(), now: start)
        #expect(rotation.wanted(live([90, 80, 0]), now: after(1)) == 0)
        #expect(rotation.wanted(live([90, 80, 0]), now: after(20)) == 2)
        #expect(rotation.wanted([.init(.live), .init(.live, importance: 5), .init(.waiting)], now: after(20)) == 1)
    }

    @Test func aRoundGivesEachLiveTopicItsTurn() {
        let style = style { $0.round = .seconds(10) }
        var rotation = Rotation(style, at: start)
        let topics: [Rotation.Topic] = [.init(.live), .init(.ended), .init(.live), .init(.live, importance: 9)]
        rotation.happened(at: 2, weight: card, style, now: start)
        var turns: [Int?] = []
        var now = start
        for _ in 0..<4 {
            guard let next = rotation.looksAgain(topics, now: now) else { break }
            now = next
            let wanted = rotation.wanted(topics, now: now)
            if wanted != rotation.position { rotation.move(to: wanted, style, now: now) }
            turns.append(rotation.position)
        }
        #expect(turns == [2, 3, 0, 2], "the dwell ends, then each has its turn")
        #expect(now == after(20 + 30))
    }

    @Test func pushesOfItsOwnAreBudgeted() {
        let style = style { $0.budget = .init(burst: 2, refill: .seconds(60)) }
        var rotation = Rotation(style, at: start)
        let topics = live([10, 0])
        rotation.happened(at: 1, weight: card, style, now: start)
        let granted = (0..<3).map { _ in rotation.mayPush(topics, now: after(20)) }
        #expect(granted == [true, true, false])
        #expect(rotation.looksAgain(topics, now: after(20)) == after(80), "it looks again when there is a push to have")
    }
}
