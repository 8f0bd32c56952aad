import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct ArrivalsTests {
    private let feed = PatchFeed()

    private func arrivals(at seconds: Double...) -> Arrivals {
        var arrivals = Arrivals(idsMax: 4)
        for second in seconds {
            let isNewest = arrivals.age(of: feed.event(second)) == nil
            arrivals.advance(to: at(second), isNewest: isNewest, beginsTenure: false, now: at(second))
        }
        return arrivals
    }

    @Test func newestTimeNeverGoesBack() {
        let arrivals = arrivals(at: 10, 30, 20)
        #expect(arrivals.newestAt == at(30))
        #expect(arrivals.age(of: feed.event(25)) == .seconds(5))
        #expect(arrivals.age(of: feed.event(30)) == nil)
    }

    @Test func firstEventHasNoAge() {
        #expect(Arrivals(idsMax: 4).age(of: feed.event(0)) == nil)
    }

    @Test func gapIsTheMeanOfTheLastOnes() {
        var arrivals = Arrivals(idsMax: 4)
        arrivals.count(at: at(0))
        #expect(arrivals.gapMilliseconds == nil)
        arrivals.count(at: at(8))
        #expect(arrivals.gapMilliseconds == 8000)
        arrivals.count(at: at(8))
        #expect(arrivals.gapMilliseconds == 8000, "events of one moment say nothing")
        arrivals.count(at: at(24))
        #expect(arrivals.gapMilliseconds == 9000)
    }

    @Test func feedThatHandsOverItsBacklogIsBehind() {
        var arrivals = Arrivals(idsMax: 4)
        arrivals.advance(to: at(0), isNewest: true, beginsTenure: false, now: at(3600))
        #expect(arrivals.isBehind(feed.event(1800), now: at(3601)))
        #expect(!arrivals.isBehind(feed.event(1), now: at(3601)))
    }

    @Test func tenureBeginsWithItsStart() {
        var arrivals = Arrivals(idsMax: 4)
        arrivals.advance(to: at(10), isNewest: true, beginsTenure: true, now: at(10))
        arrivals.advance(to: at(20), isNewest: true, beginsTenure: false, now: at(20))
        #expect(arrivals.tenureBeganAt == at(10))
    }

    /// Events come in any order, some of them begin a tenure, and an operator resets the feed now and then.
    @Test(arguments: 0..<20 as Range<UInt64>) func aTenureNeverBeginsAfterTheNewestEvent(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var arrivals = Arrivals(idsMax: 8)
        for step in 0..<1000 {
            let (now, time) = (at(Double(step)), at(Double(step - random.number(below: 30))))
            arrivals.count(at: now)
            arrivals.insert("\(random.number(below: 30))")
            let isNewest = arrivals.newestAt.map { $0 <= time } ?? true
            arrivals.advance(to: time, isNewest: isNewest, beginsTenure: random.chance(5), now: now)
            if random.chance(2) { arrivals.reset(idsMax: 8) }
            #expect(arrivals.violation() == nil, "seed \(seed), step \(step)")
        }
    }

    @Test func oldestIDMakesRoom() {
        var arrivals = Arrivals(idsMax: 2)
        for id in ["a", "b", "c"] { arrivals.insert(id) }
        #expect(!arrivals.contains("a") && arrivals.contains("b") && arrivals.contains("c"))
    }

    @Test func resetForgetsTimesAndIDsButNotTheRhythm() {
        var arrivals = arrivals(at: 10, 20)
        arrivals.count(at: at(10))
        arrivals.count(at: at(20))
        arrivals.insert("a")
        arrivals.reset(idsMax: 4)
        #expect(arrivals.newestAt == nil && !arrivals.contains("a"))
        #expect(arrivals.tenureBeganAt == FeedTime.plausible.lowerBound)
        #expect(arrivals.gapMilliseconds == 10_000)
    }
}
