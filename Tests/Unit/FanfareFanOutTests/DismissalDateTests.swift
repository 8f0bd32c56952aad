import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// Rule L3: an end names the date of the rules, by the wall clock at which it is sent.
@Suite struct L3DismissalDateTests {
    private let stage = EmbeddedShard()

    private func end(at date: FeedTime) {
        stage.publish(
            Publication.test(
                stage.nextSerial(), of: stage.topic, kind: .generic, event: .end, state: ["score": 2],
                dismissal: .at(date)))
    }

    private func begin() {
        stage.publish(1)
        stage.follow()
        stage.settle()
    }

    @Test(arguments: [(-60, 0), (0, 0), (3600, 3600), (12 * 3600, 4 * 3600)] as [(Int64, Int64)])
    func anEndNamesTheDateWithinFourHours(ahead: Int64, stays: Int64) {
        begin()
        let now = stage.moment.wallSeconds
        end(at: FeedTime(seconds: now + ahead))
        let pushes = stage.settle()
        #expect(pushes.map(\.event) == [.end])
        #expect(pushes.map(\.payload.dismissalDate) == [now + stays])
    }

    @Test func anEndThatIsSentLaterNamesTheSameDate() {
        begin()
        let date = stage.moment.wallSeconds + 3600
        end(at: FeedTime(seconds: date))
        stage.pass(seconds: 600)
        let pushes = stage.settle()
        #expect(pushes.map(\.payload.dismissalDate) == [date])
    }

    @Test func anEndForAnActivitysAgeNamesTheDate() {
        let date = stage.moment.wallSeconds + 9 * 3600
        stage.publish(
            Publication.test(
                stage.nextSerial(), of: stage.topic, kind: .generic, state: ["score": 1],
                expiry: Expiry(dismissal: .at(FeedTime(seconds: date)))))
        stage.follow()
        stage.settle()
        let pushes = stage.passUntilPush(seconds: 8 * 3600).pushes
        #expect(pushes.map(\.event) == [.end])
        #expect(pushes.map(\.payload.dismissalDate) == [date])
    }
}
