import FanfareFanOut
import FanfareModel
import Testing

@Suite struct RotationTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private let goal = 100
    private let card = 60

    private func rules(_ change: (inout LineupRules) -> Void = { _ in }) -> LineupRules {
        var rules = LineupRules()
        rules.dwell = .seconds(20)
        change(&rules)
        return rules
    }

    private func live(_ importance: [Int]) -> [SpotlightCandidate] {
        importance.map { SpotlightCandidate(.live, importance: $0) }
    }

    private func after(_ seconds: Int64) -> MonotonicTime { start + .seconds(seconds) }

    @Test func spotlightHoldsNewsThenTheMostImportantTopic() {
        var rotation = Rotation(rules(), at: start)
        let topics = live([10, 50, 50])
        #expect(rotation.wanted(topics, now: start) == 1, "of equals the first row")
        rotation.happened(at: 0, weight: card, rules(), now: start)
        #expect(rotation.position == 0)
        #expect(rotation.wanted(topics, now: after(19)) == 0)
        #expect(rotation.looksAgain(topics, now: start) == after(20))
        #expect(rotation.wanted(topics, now: after(20)) == 1)
        rotation.happened(at: 1, weight: card, rules(), now: after(30))
        #expect(rotation.looksAgain(topics, now: after(30)) == nil, "where it rests in any case, it need not look")
    }

    /// Rows by the schedule: the earliest is the first, of equal ones that of the first position, and the unknown one is last.
    @Test func theEarliestOfEqualTopicsHasTheSpotlight() {
        func topics(_ life: SpotlightCandidate.Life, _ times: [UInt32]) -> [SpotlightCandidate] {
            times.map { SpotlightCandidate(life, importance: 50, scheduledAt: $0) }
        }
        let times: [UInt32] = [SpotlightCandidate.unscheduled, 8, 7, 7]
        for life in [SpotlightCandidate.Life.live, .upcoming, .ended] {
            #expect(Rotation(rules(), at: start).wanted(topics(life, times), now: start) == 2)
        }
        var lighter = topics(.live, times)
        lighter[2].importance = 49
        lighter[3].importance = 49
        #expect(Rotation(rules(), at: start).wanted(lighter, now: start) == 1, "importance comes first")
        let cycle = rules { $0.round = .seconds(30) }
        var rotation = Rotation(cycle, at: start)
        var seen: [Int?] = []
        for turn in 0..<5 {
            let wanted = rotation.wanted(topics(.live, times), now: after(Int64(turn) * 30))
            rotation.move(to: wanted, cycle, now: after(Int64(turn) * 30))
            seen.append(wanted)
        }
        #expect(seen == [2, 3, 1, 0, 2])
    }

    @Test func weightierNewsTakesTheSpotlightAndLighterDoesNot() {
        var rotation = Rotation(rules(), at: start)
        rotation.happened(at: 0, weight: card, rules(), now: start)
        rotation.happened(at: 1, weight: goal, rules(), now: after(1))
        #expect(rotation.position == 1, "a goal does not wait for a card's dwell")
        rotation.happened(at: 2, weight: card, rules(), now: after(2))
        #expect(rotation.position == 1)
        rotation.happened(at: 2, weight: goal, rules(), now: after(3))
        #expect(rotation.position == 2, "of equal weight the newer")
        rotation.happened(at: 0, weight: card, rules(), now: after(23))
        #expect(rotation.position == 0, "the dwell of the goal is over")
    }

    @Test func moreNewsOfATopicHoldsTheSpotlightLonger() {
        var rotation = Rotation(rules(), at: start)
        rotation.happened(at: 0, weight: goal, rules(), now: start)
        rotation.happened(at: 0, weight: card, rules(), now: after(10))
        rotation.happened(at: 1, weight: card, rules(), now: after(25))
        #expect(rotation.position == 0)
        #expect(rotation.wanted(live([0, 50]), now: after(29)) == 0)
        #expect(rotation.wanted(live([0, 50]), now: after(30)) == 1)
    }

    @Test func aTopicThatIsGoneHasNoSpotlight() {
        var rotation = Rotation(rules(), at: start)
        rotation.happened(at: 0, weight: goal, rules(), now: start)
        #expect(rotation.wanted([.init(.gone), .init(.live)], now: after(1)) == 1)
        #expect(rotation.wanted([.init(.gone), .init(.ended)], now: after(1)) == 1)
        #expect(rotation.wanted([.init(.gone), .init(.gone)], now: after(1)) == nil)
    }

    @Test func endedTopicsKeepTheSpotlightForTheirDwellOnly() {
        var rotation = Rotation(rules(), at: start)
        rotation.happened(at: 0, weight: goal, rules(), now: start)
        let topics: [SpotlightCandidate] = [.init(.ended, importance: 90), .init(.live)]
        #expect(rotation.wanted(topics, now: after(5)) == 0)
        #expect(rotation.wanted(topics, now: after(20)) == 1)
    }

    @Test func spotlightStaysWhileNoTopicIsLive() {
        var rotation = Rotation(rules(), at: start)
        rotation.happened(at: 1, weight: goal, rules(), now: start)
        let topics: [SpotlightCandidate] = [.init(.upcoming), .init(.ended)]
        #expect(rotation.wanted(topics, now: after(100)) == 1)
        #expect(rotation.looksAgain(topics, now: after(1)) == nil)
        let mayPush = rotation.mayPush(topics, now: after(100))
        #expect(!mayPush)
    }

    @Test func theFavouriteHasTheSpotlightBackWhileItIsLive() {
        var rotation = Rotation(rules(), pinned: 2, at: start)
        #expect(rotation.wanted(live([90, 80, 0]), now: start) == 2)
        rotation.happened(at: 0, weight: card, rules(), now: start)
        #expect(rotation.wanted(live([90, 80, 0]), now: after(1)) == 0)
        #expect(rotation.wanted(live([90, 80, 0]), now: after(20)) == 2)
        #expect(rotation.wanted([.init(.live), .init(.live, importance: 5), .init(.upcoming)], now: after(20)) == 1)
    }

    @Test func aCycleGivesEachLiveTopicItsTurn() {
        let rules = rules { $0.round = .seconds(10) }
        var rotation = Rotation(rules, at: start)
        let topics: [SpotlightCandidate] = [.init(.live), .init(.ended), .init(.live), .init(.live, importance: 9)]
        rotation.happened(at: 2, weight: card, rules, now: start)
        var turns: [Int?] = []
        var now = start
        for _ in 0..<4 {
            guard let next = rotation.looksAgain(topics, now: now) else { break }
            now = next
            let wanted = rotation.wanted(topics, now: now)
            if wanted != rotation.position { rotation.move(to: wanted, rules, now: now) }
            turns.append(rotation.position)
        }
        #expect(turns == [3, 0, 2, 3], "when the dwell ends a turn begins, and then each has its own")
        #expect(now == after(20 + 40))
    }

    @Test func aCycleNeedsSeveralLiveTopicsAndNoLiveFavourite() {
        let rules = rules { $0.round = .seconds(10) }
        var alone = Rotation(rules, at: start)
        alone.move(to: 0, rules, now: start)
        #expect(alone.looksAgain([.init(.live), .init(.ended), .init(.upcoming)], now: after(60)) == nil)
        #expect(alone.looksAgain([.init(.live), .init(.live)], now: after(5)) == after(10))
        var pinned = Rotation(rules, pinned: 1, at: start)
        pinned.move(to: 1, rules, now: start)
        #expect(pinned.wanted(live([0, 0, 0]), now: after(60)) == 1)
        #expect(pinned.looksAgain(live([0, 0, 0]), now: after(60)) == nil)
        #expect(pinned.wanted([.init(.live), .init(.upcoming), .init(.live)], now: after(60)) == 0)
    }

    @Test func aRotationsOwnPushesAreBudgeted() {
        let rules = rules { $0.rotationPushes = .init(burst: 2, refill: .seconds(60)) }
        var rotation = Rotation(rules, at: start)
        let topics = live([10, 0])
        rotation.happened(at: 1, weight: card, rules, now: start)
        let granted = (0..<3).map { _ in rotation.mayPush(topics, now: after(20)) }
        #expect(granted == [true, true, false])
        #expect(rotation.looksAgain(topics, now: after(20)) == after(80), "it looks again when there is a push to have")
    }
}
