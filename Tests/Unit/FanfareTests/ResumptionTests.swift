import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

@Suite struct ResumptionTests {
    private static func publication(_ topic: String) -> Publication {
        Publication.test(UInt64(topic.utf8.first ?? 0), of: TopicID(topic), kind: .generic, version: 1, state: ["n": 1])
    }

    private static func alert(
        of topic: String, at second: Int64, _ alertClass: AlertClass = .essential, withheldFrom apps: [AppID] = []
    ) -> (entry: RecentAlert, age: Duration) {
        let alert = Alert(
            cause: "\(topic) \(second)", class: alertClass, text: AlertText(title: topic, body: ""),
            freshFor: .seconds(60),
            highlight: "n", grantedAt: FeedTime(seconds: second), arrivedAt: FeedTime(seconds: second))
        return (RecentAlert(topic: TopicID(topic), alert: alert, withheldFrom: apps), .zero)
    }

    private static let (one, other) = (AppID(bundleID: "one"), AppID(bundleID: "other"))

    private static func order(_ resumption: Resumption, for app: AppID?) -> [String] {
        resumption.publications(forApp: app).map { "\($0.publication.topicID.rawValue)\($0.alerts.count)" }
    }

    @Test func eachAppGetsTheAlertsThatWereNotWithheldFromIt() {
        let resumption = Resumption(
            ["a", "b"].map(Self.publication),
            [
                Self.alert(of: "a", at: 10), Self.alert(of: "b", at: 20),
                Self.alert(of: "a", at: 30, withheldFrom: [Self.one]),
            ])
        #expect(Self.order(resumption, for: Self.one) == ["a1", "b1"])
        #expect(Self.order(resumption, for: Self.other) == ["a2", "b1"])
        #expect(Self.order(resumption, for: nil) == ["a2", "b1"])
    }
}
