import FanfareDecisions
import FanfareFeeds
import FanfareModel
import Testing

@Suite(.enabled(if: Recordings.areHere, "\(Recordings.skipped)"))
struct TransitTruthTests {
    struct NYCT: Decodable {
        let series: [Series]

        struct Series: Decodable {
            let polls: [Poll]
            let trips: [Trip]
            let lastHeader: Int64
        }

        struct Poll: Decodable {
            let tripUpdates, assignedTrips: Int
            let headerTimestamp: Int64
        }

        struct Trip: Decodable {
            let tripId, startDate, trainId, route: String
            let assignedSince: Int64?
            let lastSeen: Int64
            let terminal, nextStopLast: String
            let terminalEtaLast: Int64
            let remainingStopsLast: Int64

            var topic: String { "trip/\(startDate)/\(tripId)/" + encoded(trainId) }

            private func encoded(_ text: String) -> String {
                text.replacing("%", with: "%25").replacing(" ", with: "%20").replacing("/", with: "%2F")
            }
        }
    }

    @Test func fortyRecordedPollsShowEachTripAsLastSeen() throws {
        let facts: NYCT = try Recordings.facts("nyct-gtfsrt/facts.json")
        let series = try #require(facts.series.first)
        let lastSeen = Dictionary(uniqueKeysWithValues: series.trips.map { ($0.topic, FeedTime(seconds: $0.lastSeen)) })
        var thenShown: [String: TopicView] = [:]
        let replay = try Replay([Recordings.path("nyct-gtfsrt")]) { event, topic in
            if lastSeen[topic.id.rawValue] == event.at { thenShown[topic.id.rawValue] = topic }
        }
        #expect(replay.rejections.isEmpty)
        for poll in series.polls {
            let events = replay.events.filter {
                $0.at == FeedTime(seconds: poll.headerTimestamp) && $0.kind != "absent"
            }
            #expect(events.count == poll.tripUpdates)
        }

        let running = series.trips.filter { $0.assignedSince != nil }
        #expect(running.count == 118)
        for trip in running {
            let topic = try #require(thenShown[trip.topic], "\(trip.topic)")
            #expect(topic.state["line"]?.stringValue == trip.route)
            #expect(topic.state["nextStopId"]?.stringValue == trip.nextStopLast, "\(trip.topic)")
            #expect(topic.state["stopsLeft"]?.intValue == trip.remainingStopsLast, "\(trip.topic)")
            #expect(["assigned", "enRoute", "atStop", "arriving"].contains(topic.state["status"]), "\(trip.topic)")
            // Whole minutes with hysteresis: never more than a minute off.
            let shown = try #require(topic.state["arrivesAt"]?.doubleValue) + 978_307_200
            #expect(abs(shown - Double(trip.terminalEtaLast)) <= 60, "\(trip.topic)")
            #expect(topic.version > 0)
        }
        for trip in series.trips where trip.assignedSince == nil {
            #expect(try replay.topic(trip.topic).version == 0, "planned only: \(trip.topic)")
        }
    }

    /// The phone counts down by itself from `arrivesAt`; a countdown in minutes beside it would be pushed with nearly every poll:
    /// docs/figures.md has the shares.
    @Test func U2_aCountdownWouldCostMore() throws {
        var polls = 0
        var pushes = 0
        var countdownPushes = 0
        var last: [TopicID: (version: UInt32, minutes: Int64)] = [:]
        _ = try Replay([Recordings.path("nyct-gtfsrt")]) { event, topic in
            guard case .fact(let fact) = event.change, let arrival = fact.values["arrivesAt"]?.intValue,
                topic.version > 0, !topic.ended
            else { return }
            let now = (version: topic.version, minutes: (arrival - event.at.milliseconds / 1000) / 60)
            let before = last.updateValue(now, forKey: event.topic)
            polls += 1
            if now.version != before?.version { pushes += 1 }
            if now != before ?? (0, 0) { countdownPushes += 1 }
        }
        #expect(polls == 2855)
        #expect(pushes == 2009)
        #expect(countdownPushes == 2634)
    }

    /// Which trips end, told by the polls alone: gone from two with at most two stops left, or gone for ten minutes.
    @Test func tripsEndWhenTheyAreGone() throws {
        var gone: [TopicID: (polls: Int, since: FeedTime)] = [:]
        var stopsLeft: [TopicID: Int64] = [:]
        var ended: Set<TopicID> = []
        let replay = try Replay([Recordings.path("nyct-gtfsrt")]) { event, _ in
            guard case .fact(let fact) = event.change else { return }
            if fact.kind == "position" {
                gone[event.topic] = nil
                stopsLeft[event.topic] = fact.values["stopsLeft"]?.intValue
                return
            }
            let absence = gone[event.topic] ?? (0, event.at)
            gone[event.topic] = (absence.polls + 1, absence.since)
            if absence.polls + 1 >= 2 && stopsLeft[event.topic, default: 0] <= 2 { ended.insert(event.topic) }
            if event.at - absence.since >= .seconds(600) { ended.insert(event.topic) }
        }
        #expect(ended.count > 30)
        for topic in replay.core.topics {
            #expect(topic.ended == ended.contains(topic.id), "\(topic.id)")
            let isOver = topic.state["status"] == "ended" || topic.state["status"] == "withdrawn"
            #expect(topic.ended == isOver, "\(topic.id)")
        }
    }
}
