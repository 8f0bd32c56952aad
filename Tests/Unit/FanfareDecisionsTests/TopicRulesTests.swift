import FanfareDecisions
import FanfareModel
import Testing

/// Rules beyond the built-in football and transit: fields, occasions of a state, counters, ends.
@Suite struct TopicRulesTests {
    private let feed = PatchFeed(topic: TopicID("order/1"), kind: TopicKind("made"))

    private func story(_ change: (inout TopicRules) -> Void) -> Scripted {
        var made = TopicRules(reducer: CountingReducer())
        change(&made)
        return Scripted(rules: Rules(kinds: [TopicKind("made"): made], other: .generic))
    }

    private func fact(
        _ seconds: Double, _ id: String, _ kind: String, _ values: JSONObject = [:]
    ) -> FeedEvent {
        FeedEvent(
            topic: feed.topic, topicKind: TopicKind("made"), at: at(seconds), id: id, kind: kind,
            change: .fact(Fact(id: id, kind: kind, at: at(seconds), values: values)))
    }

    // MARK: - Fields

    /// Rule U3 and invariant 8.
    @Test func U3_aRedactedFieldIsNowhere() {
        var story = story {
            $0.content.fields = [
                "courier": .redacted(Redaction(.initial)), "phone": .redacted(Redaction(.removed)),
                "gift": .redacted(Redaction(.summary("a present"))),
            ]
            $0.content.derived.minimal = "{courier}{phone}"
            $0.occasions = [
                "out": OccasionRule(
                    when: [Condition("status", .oneOf(["out"]))], essential: true,
                    alert: AlertRule(
                        .ordinary, burst: 1, refill: .seconds(60), freshFor: .seconds(60),
                        words: AlertRule.Words(title: "{courier}", body: "{phone}{gift}")))
            ]
        }
        story.apply(feed.set(0, ["courier": "Sabine", "phone": "0171", "gift": "ring", "status": "placed"]))
        story.apply(feed.set(10, ["status": "out"]))
        #expect(
            story.topic("order/1")?.published
                == ["courier": "S.", "gift": "a present", "minimal": "S.", "status": "out"])
        let text = story.publications.last?.alert?.text
        #expect(text == AlertText(title: "S.", body: "a present"))
        for secret in ["Sabine", "0171", "ring\""] { #expect(!story.log.contains(secret)) }
    }

    @Test func U3_aChangeOfWhatIsHiddenIsNotVisible() {
        var story = story { $0.content.fields["courier"] = .redacted(Redaction(.initial)) }
        story.apply(feed.set(0, ["courier": "Sabine"]))
        #expect(story.apply(feed.set(10, ["courier": "Samir"])).outcome == .unchanged)
        #expect(story.apply(feed.set(20, ["courier": "Tom"])).outcome == .published)
    }

    @Test func U3_aFieldIsShownWhileItsConditionHolds() {
        var story = story {
            $0.content.fields["plate"] = .redacted(
                Redaction(.removed, unless: [Condition("status", .oneOf(["waiting"]))]))
        }
        story.apply(feed.set(0, ["plate": "B-X 1", "status": "matching"]))
        #expect(story.state("order/1", "plate") == nil)
        story.apply(feed.set(10, ["status": "waiting"]))
        #expect(story.state("order/1", "plate") == "B-X 1")
        story.apply(feed.set(20, ["status": "gone"]))
        #expect(story.state("order/1", "plate") == nil)
    }

    @Test func aHiddenFieldIsBoundedLikeOthers() {
        var story = story { $0.content.fields["secret"] = .redacted(Redaction(.removed)) }
        story.apply(feed.set(0, ["n": 1]))
        let record = story.apply(feed.set(10, ["secret": .string(String(repeating: "x", count: 4000))]))
        #expect(record.outcome == .rejected)
    }

    @Test func U2_aShareMovesInPercent() {
        var story = story { $0.content.fields["progress"] = .quantised(.percent(5)) }
        story.apply(feed.set(0, ["progress": 0.113]))
        #expect(story.state("order/1", "progress") == 0.1)
        #expect(story.apply(feed.set(10, ["progress": 0.124])).outcome == .unchanged)
        story.apply(feed.set(20, ["progress": 0.13]))
        #expect(story.state("order/1", "progress") == 0.15)
        story.apply(feed.set(30, ["progress": 1]))
        #expect(story.state("order/1", "progress") == 1.0)
    }

    @Test func U6_aTapLeadsToTheTopicAsItStands() {
        var story = story {
            $0.content.derived = DerivedFields(words: ["onTheWay": "Way"], deepLink: "app://{topic}?n={n}&s={status}")
        }
        story.apply(feed.set(0, ["n": 3, "status": "onTheWay"]))
        #expect(story.state("order/1", "deepLink") == "app://order/1?n=3&s=onTheWay", "not in short words")
        story.apply(feed.set(10, ["n": 4]))
        #expect(story.topic("order/1")?.published?["deepLink"] == "app://order/1?n=4&s=onTheWay")
    }

    /// A status has a word of its own for small spaces, and its own text everywhere else.
    @Test func M4_shortFormsHaveWordsOfTheirOwn() {
        var story = Scripted()
        let order = PatchFeed(kind: .delivery)
        story.apply(order.set(0, ["status": "outForDelivery", "stopsBefore": 2]))
        #expect(story.state("order/1", "compactLeading") == "On way")
        #expect(story.state("order/1", "compactTrailing") == "2")
        #expect(story.state("order/1", "status") == "outForDelivery")
    }

    @Test func M4_shortFormsKeepTheirWidth() {
        var story = story {
            $0.content.derived = DerivedFields(
                compactLeading: "{home}", compactTrailing: "{n}–{m}", minimal: "{missing}", widthMax: 5)
        }
        story.apply(feed.set(0, ["home": "Hamburg", "n": 3, "m": 2]))
        #expect(story.state("order/1", "compactLeading") == "Ham…")
        #expect(story.state("order/1", "compactTrailing") == "3–2")
        #expect(story.state("order/1", "minimal") == "")
        story.apply(feed.set(10, ["home": "東京都"]))
        #expect(story.state("order/1", "compactLeading") == "東…")
    }

    /// A spoken form is a field where the rules ask for it, of whole characters within its bytes.
    @Test func P3_rulesMakeASpokenForm() {
        var story = story {
            $0.content.derived = DerivedFields(spoken: "{home} {n}, {status}")
            $0.content.derived.spokenWords = ["0": "nil", "1H": "first half"]
            $0.content.derived.spokenSizeMax = .bytes(32)
        }
        story.apply(feed.set(0, ["home": "Köln", "n": 0, "status": "1H"]))
        #expect(story.state("order/1", "spoken") == "Köln nil, first half")
        #expect(story.state("order/1", "status") == "1H")
        story.apply(feed.set(10, ["status": "wäwäwäwäwäwäwäwäwäwäwäwä"]))
        let spoken = story.topic("order/1")?.state["spoken"]?.stringValue ?? ""
        #expect(spoken.hasPrefix("Köln nil, wäwä") && spoken.hasSuffix("…"))
        #expect((30...32).contains(spoken.utf8.count))
    }

    @Test func M4_aNameIsShortInThreeLetters() {
        var story = story {
            $0.content.derived = DerivedFields(compactLeading: "{home:3} {n}", compactTrailing: "{missing:2}")
        }
        for (name, short) in [("1. FC Köln", "KÖL 3"), ("AFC Bournemouth", "BOU 3"), ("VfB", "VFB 3"), ("Al", "AL 3")] {
            story.apply(feed.set(0, ["home": .string(name), "n": 3]))
            #expect(story.core.topics.first?.state["compactLeading"] == .string(short))
        }
        #expect(story.state("order/1", "compactTrailing") == "")
    }

    @Test func templatesSayWhatIsWrongWithThem() {
        let faults = [
            ("{a", "without its }"), ("a}", "without its {"), ("{}", "no field"), ("{a:}", "how many letters"),
            ("{:3}", "how many letters"), ("{a:41}", "1 to 40"),
        ]
        for (source, fault) in faults {
            #expect { try Template(parsing: source) } throws: { "\($0)".contains(fault) }
        }
        #expect(throws: Never.self) { try Template(parsing: "{{{topic}}} {fact.a}") }
    }

    // MARK: - Occasions and ends

    private func isStatus(_ status: JSONValue...) -> [Condition] { [Condition("status", .oneOf(status))] }

    @Test func A1_anOccasionIsThereOnceWhenItComesToHold() {
        var story = story {
            $0.occasions["near"] = OccasionRule(
                when: [Condition("stops", .atMost(1)), Condition("held", .present(false))], essential: true,
                alert: AlertRule(
                    .essential, burst: 9, refill: .seconds(60), freshFor: .seconds(60),
                    words: AlertRule.Words(title: "{stops} to go")))
        }
        story.apply(feed.set(0, ["stops": 3]))
        let near = story.apply(feed.set(0.5, ["stops": 1]))
        #expect(near.outcome == .published)
        #expect(near.reason == "visible change, near is essential")
        #expect(near.alert == .granted)
        #expect(story.publications.last?.alert?.highlight == "stops")
        #expect(story.publications.last?.alert?.text.title == "1 to go")
        #expect(story.apply(feed.set(0.7, ["stops": 0])).outcome == .conflated)
        story.apply(feed.set(10, ["held": true]))
        #expect(story.apply(feed.set(10.5, ["held": .null])).alert == .granted)
    }

    /// An occasion of a distance: the wait has become much shorter than people see.
    @Test func A1_anOccasionIsThereWhenAFieldHasMovedFarFromWhatPeopleSee() {
        var story = story {
            $0.content.fields["minutes"] = .quantised(Quantiser(step: 5, hysteresis: 3))
            $0.occasions["shorter"] = OccasionRule(
                when: [Condition("open", .oneOf([true]))], shifts: [FieldShift("minutes", by: -10)], essential: true,
                alert: AlertRule(
                    .ordinary, burst: 1, refill: .seconds(3600), freshFor: .seconds(60),
                    words: AlertRule.Words(title: "{minutes} minutes now")))
            $0.occasions["longer"] = OccasionRule(shifts: [FieldShift("minutes", by: 20)], essential: true)
        }
        let first = story.apply(feed.set(0, ["minutes": 60, "open": true]))
        #expect(first.alert == nil, "nobody has seen anything before")
        #expect(story.apply(feed.set(10, ["minutes": 55])).alert == nil)
        // Two small steps within the minimum interval: people have seen neither the first nor 50.
        #expect(story.apply(feed.set(11, ["minutes": 50])).outcome == .conflated)
        #expect(story.apply(feed.set(11.5, ["minutes": 44])).alert == .granted)
        #expect(story.publications.last?.alert?.text.title == "45 minutes now", "the text is of the new state")
        #expect(story.publications.last?.alert?.highlight == "minutes")
        #expect(story.apply(feed.set(20, ["minutes": 30])).alert == .demoted, "once an hour")
        #expect(story.apply(feed.set(30, ["minutes": 50])).reason == "visible change, longer is essential")
        story.apply(feed.set(40, ["open": false]))
        #expect(story.apply(feed.set(50, ["minutes": 20])).alert == nil, "its conditions must hold, too")
    }

    @Test func ofTwoOccasionsTheWeightierCounts() {
        var story = story {
            $0.occasions = [
                "a": OccasionRule(when: self.isStatus("x"), essential: true),
                "b": OccasionRule(
                    when: self.isStatus("x"), essential: false,
                    alert: AlertRule(
                        .essential, burst: 1, refill: .seconds(60), freshFor: .seconds(60),
                        words: AlertRule.Words(title: "b"))),
            ]
        }
        story.apply(feed.set(0, ["status": "w"]))
        #expect(story.apply(feed.set(10, ["status": "x"])).alertReason == "b")
    }

    @Test func L2_aTopicEndsWhenItsStateSaysSo() {
        var story = story { $0.lifetime.endsWhen = self.isStatus("delivered", "cancelled") }
        story.apply(feed.set(0, ["status": "out"]))
        let end = story.apply(feed.set(1, ["status": "delivered"]))
        #expect(end.outcome == .published)
        #expect(story.publications.last?.event == .end)
        #expect(story.apply(feed.set(9, ["status": "out"])).reason == "after end")
    }

    @Test func aTopicThatIsOverBeforeItsFirstStateIsNotShown() {
        var story = story { $0.lifetime.endsWhen = self.isStatus("delivered") }
        #expect(story.apply(feed.set(0, ["status": "delivered"])).reason == "over before it was shown")
        #expect(story.publications.isEmpty)
    }

    @Test func staleNewsWaitsForTheNextUpdate() {
        var story = story {
            $0.reducer = CountingReducer(counters: ["scans": .init(fact: "scan")])
            $0.occasions["scan"] = OccasionRule(essential: false, droppableAfter: .seconds(60))
        }
        story.apply(fact(100, "s1", "scan"))
        let recent = story.apply(fact(45, "s2", "scan"), now: at(110))
        #expect(recent.outcome == .published)
        let old = story.apply(fact(30, "s3", "scan"), now: at(120))
        #expect(old.outcome == .late)
        #expect(old.reason == "late by 70 s, too old for an update of its own: the next one carries it")
        let next = story.apply(fact(130, "s4", "scan"))
        #expect(next.causes == ["s3", "s4"])
        #expect(story.topic("order/1")?.published?["scans"] == 4)
    }

    // MARK: - Counters

    @Test func countersFollowTheLiveFacts() {
        var story = story {
            $0.reducer = CountingReducer(
                counters: [
                    "home": .init(fact: "basket", where: [Condition("side", .oneOf(["home"]))], by: "points"),
                    "baskets": .init(fact: "basket"),
                ], facts: ["note"])
            $0.occasions["basketCancelled"] = OccasionRule(essential: true)
        }
        story.apply(fact(0, "b1", "basket", ["side": "home", "points": 3]))
        story.apply(fact(10, "b2", "basket", ["side": "away", "points": 2]))
        #expect(story.topic("order/1")?.state == ["home": 3, "baskets": 2])
        #expect(story.apply(fact(20, "b3", "basket", ["side": "home"])).outcome == .rejected)
        #expect(story.apply(fact(21, "n1", "note")).outcome == .unchanged)
        #expect(story.apply(fact(22, "x1", "unheard")).reason == "made topics know no fact unheard")
        let cancelled = story.apply(
            FeedEvent(topic: feed.topic, at: at(22.5), kind: "undo", change: .retraction(of: "b1")))
        #expect(cancelled.reason == "visible change, basketCancelled is essential")
        #expect(story.topic("order/1")?.published == ["home": 0, "baskets": 1])
    }

    @Test func theNewestLiveFactsValueIsKept() {
        var story = story {
            $0.reducer = CountingReducer(latest: ["period": .init(of: ["period", "start"], value: "name")])
        }
        story.apply(fact(0, "s", "start", ["name": "PRE"]))
        story.apply(fact(30, "p2", "period", ["name": "2"]))
        story.apply(fact(10, "p1", "period", ["name": "1"]), now: at(40))
        #expect(story.state("order/1", "period") == "2")
        story.apply(fact(50, "p3", "period", ["other": "3"]))
        #expect(story.state("order/1", "period") == "2")
        story.apply(FeedEvent(topic: feed.topic, at: at(60), kind: "undo", change: .retraction(of: "p2")))
        #expect(story.state("order/1", "period") == "1")
    }

    // MARK: - Requests of updates

    @Test func L6_staleAfterFollowsTheFeed() {
        var story = story {
            $0.pace.staleAfter = .rhythm(times: 4, .init(atLeast: .seconds(60), atMost: .seconds(900)))
        }
        for second in 0..<3 { story.apply(feed.set(Double(second) * 30, ["n": .int(Int64(second))])) }
        #expect(story.publications.map(\.staleAfter) == [.seconds(900), .seconds(120), .seconds(120)])
        story.apply(feed.set(1000, ["n": 9]))
        #expect(story.publications.last?.staleAfter == .milliseconds((30_000 * 7 + 940_000) / 8 * 4))
    }

    @Test func U7_relevanceAndPriorityAreAskedFor() {
        var story = story {
            $0.relevance = 40
            $0.priority = .immediate
            $0.occasions["near"] = OccasionRule(when: self.isStatus("near"), essential: true, relevance: 90)
        }
        story.apply(feed.set(0, ["status": "far"]))
        story.apply(feed.set(10, ["status": "near"]))
        story.apply(feed.set(20, ["status": "gone"]))
        #expect(story.publications.map(\.relevance) == [40, 90, 40])
        #expect(story.publications.map(\.priority) == [.immediate, .immediate, .immediate])
    }

    @Test func U4_theReserveIsKeptFree() {
        var story = story { $0.content.attributesReserve = .bytes(3000) }
        story.apply(feed.set(0, ["n": 1]))
        let record = story.apply(feed.set(10, ["text": .string(String(repeating: "x", count: 1090))]))
        #expect(record.reason.contains("at most 1096"))
        #expect(TopicRules.Content(attributesReserve: .bytes(5)).attributesReserve == .kibibytes(1))
    }
}
