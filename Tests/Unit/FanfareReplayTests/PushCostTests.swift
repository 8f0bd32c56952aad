import Fanfare
import FanfareModel
import FanfareReplay
import FanfareTestSupport
import Testing

@Suite struct PushCostTests {
    /// A window of 65,535 bytes has room for 206 bodies of 317 bytes, and does so twenty times a second.
    @Test func aWindowHoldsSoManyBodies() throws {
        let envelope = try #require(PushCost(stateSize: .bytes(2))).bodySize - .bytes(2)
        let cost = try #require(PushCost(stateSize: .bytes(317) - envelope))
        #expect(cost.bodySize == .bytes(317))
        #expect(cost.pushesPerSecond() == 4120)
        #expect(cost.pushesPerSecond(connections: PushCost.connections) == 263_680)
    }

    @Test func smallBodiesAreLimitedByStreams() throws {
        let cost = try #require(PushCost(stateSize: .bytes(2)))
        #expect(cost.bodySize > .bytes(65) && cost.pushesPerSecond() <= 20_000)
        #expect(PushCost(stateSize: .bytes(1)) == nil && PushCost(stateSize: .bytes(5000)) == nil)
    }

    @Test func theMostConnectionsAreThoseOfAnApp() {
        let options = APNsOptions(
            host: "localhost", port: 443, keyFile: "", keyID: nil, teamID: "", bundleID: "com.example.app")
        #expect(options.connectionsMax == PushCost.connections)
    }

    /// Dates, an alert and the dismissal of an end are part of the body.
    @Test func thePushOfAVersionIsTheOneThatIsSent() throws {
        func publication(_ event: Publication.Event, alert: Alert?) -> Publication {
            Publication.test(
                of: TopicID("match/1"), event: event, state: ["homeScore": 2], alert: alert, relevance: 50,
                staleAfter: .seconds(900), dismissal: event == .end ? .after(.seconds(1800)) : nil)
        }
        let goal = Alert(
            cause: "g1", class: .essential, text: AlertText(title: "Goal", body: "2:1"), freshFor: .seconds(300),
            highlight: nil)
        func bytes(_ publication: Publication) -> Int? { PushCost(publication)?.bodySize.bytes }
        let update =
            #"{"aps":{"timestamp":1790000000,"event":"update","content-state":{"homeScore":2},"stale-date":1790000000,"#
            + #""relevance-score":50}}"#
        let silent = update.utf8.count
        #expect(bytes(publication(.update, alert: nil)) == silent)
        #expect(
            bytes(publication(.update, alert: goal)) == silent + #","alert":{"title":"Goal","body":"2:1"}"#.utf8.count)
        // Three letters less, a date more.
        #expect(
            bytes(publication(.end, alert: nil)) == silent - 3 + #","dismissal-date":1790000000"#.utf8.count)
    }
}
