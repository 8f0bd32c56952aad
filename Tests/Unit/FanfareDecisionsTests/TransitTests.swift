import FanfareDecisions
import FanfareModel
import Testing

/// A trip, from the contents of each poll.
@Suite struct TransitTests {
    static let topic = TopicID("trip/20240208/044200_A..N/1A")

    /// A poll at `minute` that has the trip.
    func position(
        _ minute: Double, stopsLeft: Int64, arrives: Double, status: String = "enRoute", next: String = "A12N"
    ) -> FeedEvent {
        event(
            minute, "position",
            [
                "line": "A", "destination": "Inwood-207 St", "status": .string(status), "nextStop": "145 St",
                "nextStopId": .string(next), "stopsLeft": .int(stopsLeft),
                "arrivesAt": .int(at(arrives * 60).milliseconds / 1000),
            ])
    }

    /// A poll without the trip.
    func absent(_ minute: Double) -> FeedEvent { event(minute, "absent", [:]) }

    private func event(_ minute: Double, _ kind: String, _ values: JSONObject) -> FeedEvent {
        let fact = Fact(id: "poll-\(minute)", kind: kind, at: at(minute * 60), values: values)
        return FeedEvent(
            topic: Self.topic, topicKind: .transit, at: fact.at, id: fact.id, kind: kind, change: .fact(fact))
    }

    func state(_ story: Scripted, _ key: String) -> JSONValue? { story.state(Self.topic.rawValue, key) }

    @Test func aTripStartsWithItsFirstPositionThatHasStops() {
        var story = Scripted()
        #expect(story.apply(absent(0)).outcome == .unchanged)
        #expect(story.apply(position(1, stopsLeft: 0, arrives: 30, status: "assigned")).outcome == .unchanged)
        #expect(story.publications.isEmpty)
        #expect(story.apply(position(2, stopsLeft: 9, arrives: 30, status: "assigned")).version == 1)
        #expect(
            story.topic(Self.topic.rawValue)?.published == [
                "line": "A", "destination": "Inwood-207 St", "status": "assigned", "nextStop": "145 St",
                "nextStopId": "A12N", "stopsLeft": 9, "arrivesAt": .double(at(1800).activityKitSeconds),
                "compactLeading": "A", "compactTrailing": "9", "minimal": "A 9",
            ])
        #expect(story.publications.last?.staleAfter == .seconds(600))
    }

    /// The phone counts down by itself: an estimate that wavers, or stays, is no news.
    @Test func theMinuteMovesOnlyWhenTheEstimateHas() {
        var story = Scripted()
        story.apply(position(0, stopsLeft: 5, arrives: 20))
        let outcomes = [20.5, 19.6, 20.7, 20.76, 20.4, 20.27, 20.24].enumerated().map { poll, arrives in
            story.apply(position(Double(poll + 1), stopsLeft: 5, arrives: arrives)).outcome
        }
        #expect(outcomes == [.unchanged, .unchanged, .unchanged, .published, .unchanged, .unchanged, .published])
        #expect(state(story, "arrivesAt") == .double(at(1200).activityKitSeconds))
    }

    /// A cancelled train that people wait for on a platform must not be shown as on its way.
    @Test func aCancelledTripIsOver() {
        var story = Scripted()
        story.apply(position(0, stopsLeft: 9, arrives: 30))
        let record = story.apply(position(1, stopsLeft: 9, arrives: 30, status: "cancelled"))
        #expect(record.outcome == .published)
        #expect(state(story, "status") == "cancelled" && state(story, "arrivesAt") == nil)
        #expect(story.publications.last?.event == .end)
    }

    @Test func aTripGoneNearItsLastStopHasArrived() {
        var story = Scripted()
        story.apply(position(0, stopsLeft: 3, arrives: 5))
        story.apply(position(1, stopsLeft: 2, arrives: 5, next: "A03N"))
        #expect(story.apply(absent(2)).outcome == .unchanged, "one missing poll is a flaw of the feed")
        let end = story.apply(absent(3))
        #expect(end.outcome == .published)
        #expect(end.reason == "gone from 2 polls, near its last stop")
        #expect(story.publications.last?.event == .end)
        #expect(story.publications.last?.dismissal == .after(.seconds(900)))
        #expect(state(story, "status") == "ended")
        // Stops that the last poll still expected must not be shown.
        #expect(state(story, "stopsLeft") == 0)
        for key in ["nextStop", "nextStopId", "arrivesAt"] { #expect(state(story, key) == nil, "\(key)") }
        #expect(story.apply(absent(4)).reason == "after end")
    }

    @Test func absencesCountAnewAfterAPollWithTheTrip() {
        var story = Scripted()
        story.apply(position(0, stopsLeft: 2, arrives: 5))
        story.apply(absent(1))
        story.apply(position(2, stopsLeft: 2, arrives: 5))
        story.apply(absent(3))
        #expect(story.topic(Self.topic.rawValue)?.ended == false)
    }

    /// One recorded train was missing from eight polls and came back.
    @Test func aTripGoneElsewhereMayComeBack() {
        var story = Scripted()
        story.apply(position(0, stopsLeft: 9, arrives: 30))
        for minute in 1...8 { #expect(story.apply(absent(Double(minute))).outcome == .unchanged) }
        #expect(story.apply(position(9, stopsLeft: 6, arrives: 30)).outcome == .published)
        #expect(state(story, "status") == "enRoute")
    }

    @Test func aTripGoneForTenMinutesIsWithdrawn() {
        var story = Scripted()
        story.apply(position(0, stopsLeft: 9, arrives: 30))
        for minute in 1...10 { story.apply(absent(Double(minute))) }
        #expect(story.topic(Self.topic.rawValue)?.ended == false)
        let end = story.apply(absent(11))
        #expect(end.outcome == .published)
        #expect(end.reason == "gone for 10 minutes, far from its last stop")
        #expect(state(story, "status") == "withdrawn")
        #expect(story.publications.last?.event == .end)
    }

    @Test func arrivingAlertsAtTheDestinationOnly() {
        var story = Scripted()
        story.apply(position(0, stopsLeft: 3, arrives: 5))
        #expect(story.apply(position(1, stopsLeft: 2, arrives: 5, status: "arriving")).alert == nil)
        story.apply(position(2, stopsLeft: 1, arrives: 5))
        let record = story.apply(position(3, stopsLeft: 1, arrives: 5, status: "arriving"))
        #expect(record.alert == .granted)
        #expect(
            story.publications.last?.alert?.text
                == AlertText(title: "Arriving", body: "A to Inwood-207 St", sound: "default"))
        story.apply(position(4, stopsLeft: 1, arrives: 5))
        #expect(story.apply(position(5, stopsLeft: 1, arrives: 5, status: "arriving")).alert == .demoted)
    }

    @Test func theOrderOfArrivalDoesNotMatter() {
        let feed = [
            position(0, stopsLeft: 5, arrives: 20), position(1, stopsLeft: 4, arrives: 20.7),
            position(2, stopsLeft: 4, arrives: 20.8), absent(3), position(4, stopsLeft: 3, arrives: 21.3),
            position(5, stopsLeft: 2, arrives: 20.6), absent(6),
        ]
        var inOrder = Scripted()
        for event in feed { inOrder.apply(event) }
        var random = SplitMix64(seed: 11)
        for _ in 0..<100 {
            var shuffled = feed
            random.shuffle(&shuffled)
            var story = Scripted()
            for event in shuffled { story.apply(event, now: at(360)) }
            #expect(story.topic(Self.topic.rawValue)?.state == inOrder.topic(Self.topic.rawValue)?.state)
        }
    }

    @Test(
        arguments: [
            [:], ["status": "flying"], ["status": "enRoute", "stopsLeft": -1], ["status": "enRoute", "line": 7],
            ["status": "enRoute", "arrivesAt": 1_526_220_000_000], ["status": "enRoute", "arrivesAt": "soon"],
            ["status": "enRoute", "stopsLeft": 1.5],
        ] as [JSONObject])
    func positionsThatMeanNothingAreRejected(values: JSONObject) {
        var story = Scripted()
        #expect(story.apply(event(0, "position", values)).outcome == .rejected)
        #expect(story.publications.isEmpty)
    }
}
