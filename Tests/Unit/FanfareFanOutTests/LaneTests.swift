import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct LaneTests {
    private func publication(_ topic: String, serial: UInt64, alert: String?) -> Publication {
        let alert = alert.map {
            Alert(
                cause: $0, class: .essential, text: AlertText(title: $0, body: ""), freshFor: .seconds(60),
                highlight: "homeScore")
        }
        return .test(
            serial, of: TopicID(topic), version: 1,
            state: ["version": .int(Int64(serial)), "highlight": "period"], alert: alert)
    }

    /// The alert of an audience of one was not processed, while a silent sweep of a hundred has begun.
    @Test func anAlertSentAgainStillGoesFirst() {
        let stage = EmbeddedShard()
        for member in UInt64(0)..<100 {
            stage.apply(.follow(ActivityID(member), .topic(TopicID("silent")), token: [1]))
        }
        stage.apply(.follow(ActivityID(1000), .topic(TopicID("goal")), token: [2]))
        stage.publish(publication("goal", serial: 1, alert: "goal"))
        let first = stage.pull(limit: 1)
        #expect(first.map(\.payload.alert?.title) == ["goal"])

        stage.publish(publication("silent", serial: 2, alert: nil))
        #expect(stage.pull(limit: 5).allSatisfy { $0.payload.alert == nil })
        stage.answer(first, .notProcessed)
        #expect(stage.pull(limit: 1).first?.payload.alert?.title == "goal")
        #expect(stage.pull(limit: 5).count == 5)
    }
}
