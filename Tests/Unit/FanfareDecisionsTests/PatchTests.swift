import FanfareDecisions
import FanfareModel
import Testing

/// Merge patches, and the part of a change that people can see (rules U1, U2, U4).
@Suite struct PatchTests {
    let feed = PatchFeed()

    @Test func patchesMerge() {
        var story = Scripted()
        story.apply(feed.set(0, ["status": "placed", "shop": ["name": "A", "phone": "1"]]))
        story.apply(feed.set(10, ["status": "out", "shop": ["phone": .null], "stops": 3]))
        #expect(story.topic("order/1")?.state == ["status": "out", "shop": ["name": "A"], "stops": 3])
        story.apply(feed.set(20, ["stops": .null]))
        #expect(story.topic("order/1")?.published == ["status": "out", "shop": ["name": "A"]])
        #expect(story.topic("order/1")?.version == 3)
    }

    @Test func U1_aPatchOfTheSameValuesIsUnchanged() {
        var story = Scripted()
        story.apply(feed.set(0, ["a": 1, "list": [1, 2], "deep": ["x": 1]]))
        let record = story.apply(feed.set(10, ["a": 1.0, "list": [1.0, 2], "deep": ["x": 1.0]]))
        #expect(record.outcome == .unchanged)
        #expect(record.reason == "nothing people can see")
        #expect(story.apply(feed.set(20, ["a": 1.5])).outcome == .published)
    }

    @Test func olderNumbersAreDropped() {
        var story = Scripted()
        story.apply(feed.set(0, ["n": 5], seq: 5))
        #expect(story.apply(feed.set(10, ["n": 4], seq: 4)).outcome == .late)
        let again = story.apply(feed.set(11, ["n": 50], seq: 5))
        #expect(again.outcome == .duplicate)
        #expect(again.reason == "patch 5 was here before")
        #expect(story.apply(feed.set(12, ["n": 7], seq: 7)).outcome == .published)
        #expect(story.apply(feed.set(13, ["n": 6], seq: 6)).reason.hasPrefix("patch 6 after patch 7; kept"))
        #expect(story.topic("order/1")?.state == ["n": 7])
    }

    /// A number, and the patched members.
    private typealias Patch = (UInt64, JSONObject)

    /// Restarts a provider some time after its patch 900; it counts from 1 again and sends a patch a second.
    private func restarted(after seconds: Double = 60, _ run: [Patch]) -> (Scripted, [DecisionRecord]) {
        var story = Scripted()
        story.apply(feed.set(0, ["status": "placed"], seq: 899))
        story.apply(feed.set(1, ["status": "out", "eta": 9], seq: 900))
        var records: [DecisionRecord] = []
        for (index, (seq, patch)) in run.enumerated() {
            let event = feed.set(1 + seconds + Double(index), patch, seq: seq, id: "new \(index)")
            records.append(story.apply(event))
        }
        story.finish()
        return (story, records)
    }

    @Test func theFirstPatchOfNumbersThatBeginAnewCounts() {
        let (story, records) = restarted([(1, ["status": "arrived"]), (2, ["eta": 0])])
        #expect(records.map(\.outcome) == [.late, .published])
        #expect(story.topic("order/1")?.published == ["status": "arrived", "eta": 0])
        #expect(story.records.last?.causes == ["new 0", "new 1"])
    }

    @Test(arguments: [[1, 2, 3], [2, 1, 3], [1, 1, 2, 3], [2, 1, 1, 3]])
    func patchesOfNumbersThatBeginAnewStandInTheirOrder(arrivals: [UInt64]) {
        let patches: [UInt64: JSONObject] = [
            1: ["status": "arrived", "note": "a"], 2: ["eta": 0, "note": "b"], 3: ["eta": .null],
        ]
        let run = arrivals.map { seq -> Patch in (seq, patches[seq] ?? [:]) }
        let (story, _) = restarted(run + [(4, ["last": true])])
        #expect(story.topic("order/1")?.state == ["status": "arrived", "note": "b", "last": true])
    }

    /// Patches of the first seconds are no evidence against a number yet.
    @Test func patchesRightAfterARestartAreNotLost() {
        let first: [Patch] = [(1, ["status": "arrived"]), (2, ["a": 2]), (3, ["a": 3]), (4, ["b": 4])]
        let rest = (UInt64(5)...9).map { seq -> Patch in (seq, ["c": .int(Int64(seq))]) }
        let (story, records) = restarted(after: 1, first + rest)
        #expect(records.map(\.outcome).last != .late)
        #expect(story.topic("order/1")?.state == ["status": "arrived", "eta": 9, "a": 3, "b": 4, "c": 9])
    }

    @Test(arguments: [899, 900, 901] as [UInt64])
    func anOldPatchDeliveredAgainDoesNotBringTheOldNumbersBack(seq: UInt64) {
        var (story, _) = restarted([(1, ["status": "arrived"]), (2, ["eta": 0])])
        let old = story.apply(feed.set(1, ["status": "out", "eta": 9], seq: seq), now: at(70))
        #expect(old.outcome == .late)
        #expect(story.apply(feed.set(80, ["eta": 1], seq: 3)).outcome == .published)
        #expect(story.topic("order/1")?.state == ["status": "arrived", "eta": 1])
    }

    /// Neither an old patch sent again with a new time nor one that is too large belongs to the new numbers.
    @Test func aDoubtedPatchOfNoNewNumbersDoesNotCount() {
        let (sentAgain, _) = restarted([(7, ["status": "placed"]), (901, ["eta": 8])])
        #expect(sentAgain.topic("order/1")?.state == ["status": "out", "eta": 8])
        let (before, _) = restarted([(7, ["status": "placed"]), (1, ["a": 1]), (2, ["eta": 0])])
        #expect(before.topic("order/1")?.state == ["status": "out", "eta": 0, "a": 1])
        let tooLarge = JSONValue.string(String(repeating: "x", count: 4000))
        let (large, records) = restarted([(1, ["status": tooLarge]), (2, ["eta": 0])])
        #expect(records.last?.outcome == .published)
        #expect(large.topic("order/1")?.state == ["status": "out", "eta": 0])
    }

    /// A patch of the old numbers came late, and its time is within milliseconds of the newest one's.
    @Test func aPatchLateBeforeNumbersBeganAnewIsNotOfTheNewOnes() {
        let (story, _) = restarted(after: 1, [(500, ["status": "placed"])])
        var later = story
        later.apply(feed.set(100, ["a": 1], seq: 1))
        later.apply(feed.set(101, ["eta": 0], seq: 600))
        #expect(later.topic("order/1")?.state == ["status": "out", "eta": 0, "a": 1])
    }

    /// At most the last sixteen doubted patches are kept.
    @Test func ofAllThatIsDoubtedSixteenPatchesAreKept() {
        var (story, _) = restarted([])
        for seq in (1...100).reversed() { story.apply(feed.set(61, ["k\(seq)": 1], seq: UInt64(seq))) }
        story.apply(feed.set(62, ["last": true], seq: 101))
        let state = story.topic("order/1")?.state
        #expect(state?.members.count == 2 + 16 + 1)
        #expect(state?["k1"] == 1 && state?["k16"] == 1 && state?["status"] == "out")
    }

    /// The numbers of a feed's patches count, not their times.
    @Test func aNewerNumberWithAnOlderTimeApplies() {
        var story = Scripted()
        story.apply(feed.set(100, ["n": 5], seq: 5))
        let record = story.apply(feed.set(50, ["n": 6], seq: 6), now: at(110))
        #expect(record.outcome == .published)
        #expect(record.reason.contains("late by 50 s"))
    }

    @Test func patchesWithoutNumbersAreDroppedIfTheirTimeIsOlder() {
        var story = Scripted()
        story.apply(feed.set(100, ["n": 5]))
        let record = story.apply(feed.set(40, ["n": 4]), now: at(101))
        #expect(record.outcome == .late)
        #expect(record.reason == "patch late by 60 s, a newer one is in place")
        #expect(story.topic("order/1")?.state == ["n": 5])
        #expect(story.apply(feed.set(100, ["n": 6]), now: at(110)).outcome == .published)
    }

    /// Members that a whole state lacks are removed: a plain one, a nested one, and one that facts had set.
    @Test func aWholeStateReplacesTheOneBefore() {
        var story = Scripted()
        func whole(_ seconds: Double, _ state: JSONObject) -> FeedEvent {
            feed.event(seconds, "state", .contentState(state))
        }
        story.apply(feed.set(0, ["eta": 5, "deep": ["x": 1, "y": 2]]))
        let record = story.apply(whole(10, ["stop": "A", "deep": ["x": 1]]))
        #expect(record.outcome == .published)
        #expect(story.topic("order/1")?.state == ["stop": "A", "deep": ["x": 1]])
        #expect(story.apply(whole(20, ["deep": ["x": 1], "stop": "A"])).outcome == .unchanged)
        let late = story.apply(whole(15, ["stop": "B"]), now: at(21))
        #expect(late.outcome == .late)
        let tooLarge = JSONValue.string(String(repeating: "x", count: 4000))
        #expect(story.apply(whole(30, ["stop": tooLarge])).outcome == .rejected)
        #expect(story.topic("order/1")?.state == ["stop": "A", "deep": ["x": 1]])

        let match = FootballFeed()
        story.apply(match.start())
        story.apply(match.event(0, "state", .contentState(["home": "Other"])))
        #expect(story.topic("match/1")?.state == ["home": "Other"])
    }

    @Test func aPatchWithAKnownEventIDIsADuplicate() {
        var story = Scripted()
        story.apply(feed.set(0, ["n": 1], id: "e1"))
        #expect(story.apply(feed.set(10, ["n": 2], id: "e1")).outcome == .duplicate)
        #expect(story.topic("order/1")?.state == ["n": 1])
    }

    @Test func lateEventsWithoutAChangeAreLate() {
        var story = Scripted()
        story.apply(feed.set(100, ["n": 1]))
        let record = story.apply(feed.event(87.5, "scan"), now: at(101))
        #expect(record.outcome == .late)
        #expect(record.reason == "late by 12.5 s, nothing people can see")
    }

    @Test func patchesLieOverTheFacts() {
        let match = FootballFeed()
        var story = Scripted()
        story.apply(match.start(0))
        story.apply(match.goal(10, "g1"))
        story.apply(match.event(20, "correction", .patch(["homeScore": 7, "note": "desk", "lastEvent": .null])))
        story.apply(match.goal(30, "g2"))
        #expect(story.state("match/1", "homeScore") == 7)
        #expect(story.state("match/1", "note") == "desk")
        #expect(story.state("match/1", "lastEvent") == nil)
        story.apply(match.event(40, "correction", .patch(["homeScore": .null, "lastEvent": "Hm"])))
        #expect(story.state("match/1", "homeScore") == nil)
        #expect(story.state("match/1", "lastEvent") == "Hm")
    }

    // MARK: - Fields

    @Test func U1_anIgnoredFieldIsNoReasonForAnUpdate() {
        var rules = Rules.builtIn
        rules.other.content.fields["clock"] = .ignored
        var story = Scripted(rules: rules)
        story.apply(feed.set(0, ["clock": 1, "n": 1]))
        #expect(story.apply(feed.set(10, ["clock": 2])).outcome == .unchanged)
        #expect(story.apply(feed.set(20, ["clock": .null])).outcome == .unchanged)
        #expect(story.topic("order/1")?.state == ["n": 1])
        #expect(story.apply(feed.set(30, ["clock": 3, "n": 2])).outcome == .published)
        #expect(story.topic("order/1")?.published == ["clock": 3, "n": 2])
    }

    @Test func U2_aQuantisedFieldMovesInSteps() {
        var rules = Rules.builtIn
        rules.other.content.fields["eta"] = .quantised(Quantiser(step: 5, hysteresis: 4))
        var story = Scripted(rules: rules)
        story.apply(feed.set(0, ["eta": 31]))
        #expect(story.topic("order/1")?.published == ["eta": 30])
        #expect(story.apply(feed.set(10, ["eta": 33.6])).outcome == .published)
        #expect(story.topic("order/1")?.published == ["eta": 35])
        #expect(story.apply(feed.set(20, ["eta": 32])).outcome == .unchanged)
        #expect(story.apply(feed.set(30, ["eta": "soon"])).outcome == .published)
    }

    // MARK: - Size

    @Test func U4_aStateThatDoesNotFitIsRejectedWithTopicAndSize() {
        var story = Scripted()
        story.apply(feed.set(0, ["n": 1]))
        let record = story.apply(feed.set(10, ["text": .string(String(repeating: "x", count: 3055))]))
        #expect(record.outcome == .published, "3,055 and the 17 of {\"n\":1,\"text\":\"\"} are just allowed")
        #expect(story.publications.last?.state.bytes.count == 3072)
        let over = story.apply(feed.set(20, ["more": "x"], id: "e9"))
        #expect(over.outcome == .rejected)
        #expect(over.reason.contains("order/1"))
        #expect(over.reason.contains("at most 3072"))
        #expect(story.topic("order/1")?.state["more"] == nil)
        story.apply(feed.set(30, ["text": .null]))
        #expect(
            story.apply(feed.set(40, ["more": "x"], id: "e9")).outcome == .published, "a refused event may come again")
    }

    @Test func factsAreKeptWhenTheirStateDoesNotFit() {
        let match = FootballFeed()
        var story = Scripted()
        story.apply(match.start(0))
        let filler = JSONValue.string(String(repeating: "x", count: 2788))
        #expect(story.apply(match.event(10, "note", .patch(["note": filler]))).outcome == .published)
        let goal = story.apply(match.goal(20, "g1", player: String(repeating: "K", count: 100)))
        #expect(goal.outcome == .rejected)
        #expect(story.state("match/1", "homeScore") == 1)
        #expect(story.publications.count == 2)
        let room = story.apply(match.event(30, "note", .patch(["note": .null])))
        #expect(room.outcome == .published)
        #expect(room.causes == ["g1", "note"])
        #expect(story.topic("match/1")?.published?["homeScore"] == 1)
    }
}
