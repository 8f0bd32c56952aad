import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct FoldTests {
    private func fold(_ kind: TopicKind?, _ rules: TopicRules = .football) -> Fold {
        Fold(TopicID("match/1"), kind: kind, rules: KindRules(rules, Rules.Limits()))
    }

    private let feed = PatchFeed()
    private let match = FootballFeed()

    @Test func patchLiesOverFacts() {
        var fold = fold(.football)
        _ = fold.take(match.goal(10, "g1"))
        #expect(fold.state["homeScore"] == 1)
        guard case .patched(let doubted) = fold.take(feed.set(20, ["homeScore": 3])) else {
            Issue.record("a patch changes the state")
            return
        }
        #expect(doubted.isEmpty && fold.state["homeScore"] == 3)
        _ = fold.take(match.goal(30, "g2"))
        #expect(fold.state["homeScore"] == 3)
    }

    @Test func patchOfNullHidesWhatFactsSay() {
        var fold = fold(.football)
        _ = fold.take(match.goal(10, "g1"))
        _ = fold.take(feed.set(20, ["homeScore": .null]))
        _ = fold.take(match.goal(30, "g2"))
        #expect(fold.state["homeScore"] == nil)
        _ = fold.take(feed.set(40, ["homeScore": 2]))
        #expect(fold.state["homeScore"] == 2)
    }

    @Test func knownPatchIsConfirmed() {
        var fold = fold(.generic, .generic)
        _ = fold.take(feed.set(0, ["eta": 5]))
        guard case .confirmed = fold.take(feed.set(10, ["eta": 5])) else {
            Issue.record("nothing has changed")
            return
        }
    }

    @Test func oversizePatchLeavesTheStateAsItWas() {
        var fold = fold(.generic, .generic)
        _ = fold.take(feed.set(0, ["eta": 5, "shop": ["name": "A"]], seq: 1))
        let before = fold.state
        let filler = JSONValue.string(String(repeating: "x", count: 4000))
        guard case .refused(.rejected, _) = fold.take(feed.set(10, ["eta": .null, "shop": ["note": filler]], seq: 2))
        else {
            Issue.record("no push can carry it")
            return
        }
        #expect(fold.state == before && fold.patchOrder.isNewer(seq: 2) == true)
        guard case .patched = fold.take(feed.set(10, ["eta": 6], seq: 2)) else {
            Issue.record("mended, it counts")
            return
        }
    }

    @Test func doubtedPatchesComeWithTheOneThatProvesThem() {
        var fold = fold(.generic, .generic)
        _ = fold.take(feed.set(0, ["eta": 9], seq: 900))
        _ = fold.take(feed.set(60, ["status": "out"], seq: 1, id: "first"))
        #expect(fold.state["status"] == nil)
        guard case .patched(let doubted) = fold.take(feed.set(61, ["eta": 8], seq: 2)) else {
            Issue.record("the numbers have begun anew")
            return
        }
        #expect(doubted.map(\.cause) == ["first"])
        #expect(fold.state == ["eta": 8, "status": "out"])
    }

    @Test func resetOrderTakesAnyNumber() {
        var fold = fold(.generic, .generic)
        _ = fold.take(feed.set(10, ["eta": 9], seq: 900))
        fold.resetOrder()
        _ = fold.take(feed.set(0, ["eta": 8], seq: 1))
        #expect(fold.state["eta"] == 8)
    }

    @Test func factsWaitForTheKind() {
        var fold = fold(nil, .generic)
        guard case .nothing(_?) = fold.take(match.goal(10, "g1")) else {
            Issue.record("kept, and not folded")
            return
        }
        #expect(fold.state.isEmpty && !fold.isPresentable)
        fold.adopt(.football, rules: KindRules(.football, Rules.Limits()))
        #expect(fold.isKindKnown && fold.state["homeScore"] == 1)
    }

    @Test func earlyWithdrawalIsKnownWhenItsFactArrives() {
        var fold = fold(.football)
        _ = fold.take(match.cancel(20, "g1"))
        guard case .retracted = fold.take(match.goal(10, "g1")) else {
            Issue.record("withdrawn before it arrived")
            return
        }
        #expect(fold.state["homeScore"] != 1)
    }

    /// Facts, their withdrawals, patches and whole states come in any order, and other rules now and then.
    @Test(arguments: 0..<20 as Range<UInt64>) func theStateAlwaysFollowsFromFactsAndPatches(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var fold = fold(.football)
        let keys = ["homeScore", "awayScore", "minute", "note"]
        for step in 0..<300 {
            let time = Double(step - random.number(below: 5))
            let id = "g\(random.number(below: 12))"
            let value: JSONValue = random.chance(30) ? .null : .int(Int64(random.number(below: 5)))
            let key = keys[random.number(below: keys.count)]
            switch random.number(below: 10) {
            case 0..<4: _ = fold.take(match.goal(time, id, random.chance(50) ? "home" : "away"))
            case 4: _ = fold.take(match.cancel(time, id))
            case 5..<8: _ = fold.take(feed.set(time, [key: value]))
            case 8: _ = fold.take(feed.event(time, "state", .contentState([key: 7])))
            default:
                var rules = TopicRules.football
                if random.chance(50) { rules.content.fields["note"] = .redacted(Redaction(.removed)) }
                fold.adopt(KindRules(rules, Rules.Limits()))
            }
            guard fold.violation() == nil else {
                Issue.record("seed \(seed), step \(step): \(fold.violation() ?? "")")
                return
            }
        }
    }

    @Test func stateSaysThatTheTopicIsOver() {
        var rules = TopicRules.generic
        rules.lifetime.endsWhen = [Condition("status", .oneOf(["done"]))]
        var fold = fold(.generic, rules)
        _ = fold.take(feed.set(0, ["status": "out"]))
        #expect(!fold.isOver && fold.ending == nil)
        _ = fold.take(feed.set(10, ["status": "done"]))
        #expect(fold.isOver && fold.ending == "its state says that it is over")
    }
}
