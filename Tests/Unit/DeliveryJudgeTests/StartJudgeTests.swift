import DeliveryJudge
import LoadJSON
import Testing

/// Start tokens are not like the others: they get starts alone, and each device no more than it was meant to.
@Suite struct L7StartJudgeTests {
    private let topics = [
        TopicRecord(id: "match/1", ended: false, state: ["score": 2], published: ["score": 2])
    ]

    private func verdict(_ pushes: [DumpSketch.Push], starts: Int? = nil, tokens: Int? = nil) throws -> Verdict {
        var dump = DumpSketch()
        dump.states = ["one": ["score": 1], "two": ["score": 2]]
        dump.alerts = ["begin": "It begins"]
        dump.tokens["device"] = (false, pushes)
        dump.tokens["card"] = (false, [.init(at: 30, state: "two", stamp: 102)])
        var expectations = Judge.Expectations()
        if let starts { expectations.startsPerToken = starts }
        expectations.tokens = tokens
        return try dump.verdict(topics: topics, expectations)
    }

    private func start(at: Int, stamp: Int, unanswered: Bool = false) -> DumpSketch.Push {
        .init(
            at: at, state: "one", stamp: stamp, event: "s", priority: 10, alert: "begin", unanswered: unanswered)
    }

    @Test func aStartNeedsNoNewestState() throws {
        let verdict = try verdict([start(at: 10, stamp: 100)], tokens: 2)
        #expect(verdict.isGood, "\(verdict.violations)")
        #expect(verdict.starts == 1)
        #expect(verdict.startTokens == 1)
        #expect(verdict.liveTokens == 1)
    }

    /// The one whose answer was lost may be a card already.
    @Test(arguments: [false, true]) func aSecondStartIsASecondCard(unanswered: Bool) throws {
        let pushes = [start(at: 10, stamp: 100, unanswered: unanswered), start(at: 20, stamp: 101)]
        #expect(try verdict(pushes).violations == [.startTwice: 1])
        #expect(try verdict(pushes, starts: 2).isGood)
    }

    @Test func anUpdateToAStartTokenIsAViolation() throws {
        let pushes = [start(at: 10, stamp: 100), .init(at: 20, state: "two", stamp: 101)]
        #expect(try verdict(pushes).violations == [.startMixed: 1])
    }
}
