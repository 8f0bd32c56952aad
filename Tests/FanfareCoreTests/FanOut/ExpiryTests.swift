import Testing

@testable import FanfareCore

/// No activity lasts more than eight hours: it ends before, or is renewed (rule L1).
@Suite struct L1ExpiryTests {
    let stage = StartStage()
    private let hour: Int64 = 3600

    @Test func anActivityEndsBeforeEightHoursWithItsNewestState() throws {
        stage.publish(1)
        stage.follow()
        stage.pass(seconds: 2 * hour)
        stage.follow("younger", token: 2)
        _ = stage.settle()
        stage.publish(2)
        _ = stage.settle()
        let (after, pushes) = stage.passUntilPush(seconds: 7 * hour)
        #expect((6 * hour - 600...6 * hour - 299).contains(after + 1), "\(after) s")
        #expect(pushes.count == 1)
        let end = try #require(pushes.first)
        #expect(end.token == [1])
        #expect(end.event == .end)
        #expect(end.state == #"{"score":2}"#)
        #expect(end.payload.dismissalDate == stage.moment.wallSeconds + 1200)
        #expect(stage.shard.violatedInvariant() == nil)
        stage.answer(pushes, .accepted)
        #expect(stage.fates() == [.expired])
        stage.publish(3)
        #expect(stage.settle().map(\.token) == [[2]])
        #expect(stage.passUntilPush(seconds: 3 * hour).pushes.map(\.token) == [[2]], "the other one's time comes too")
    }

    /// The app started it, and the backend hears of it hours later.
    @Test func L1_anActivityIsAsOldAsItsPhoneSays() {
        stage.publish(1)
        stage.follow("younger", token: 2)
        stage.follow("older", age: .seconds(6 * hour))
        _ = stage.settle()
        let (after, pushes) = stage.passUntilPush(seconds: 3 * hour)
        #expect((2 * hour - 600...2 * hour - 299).contains(after + 1), "\(after) s")
        #expect(pushes.map(\.token) == [[1]])
        #expect(pushes.map(\.event) == [.end])
    }

    /// What has ended already, or says so, or was begun tomorrow.
    @Test func L1_agesThatCannotBe() {
        stage.publish(1)
        stage.follow("over", token: 1, age: .seconds(1000 * hour))
        stage.follow("unborn", token: 2, age: .seconds(-1000 * hour))
        _ = stage.settle()
        _ = stage.passUntilPush(seconds: 600)
        #expect(stage.shard.statistics.activities == 1)
        #expect(stage.passUntilPush(seconds: 9 * hour).pushes.map(\.token) == [[2]])
    }

    /// One that is older than those among which the hand is on its way.
    @Test func L1_anOldActivityAmongYoungOnesHasItsTime() {
        stage.publish(1)
        for member in 0..<600 { stage.follow("member \(member)", token: 2) }
        _ = stage.settle()
        stage.pass(seconds: 7 * hour + 1800 + 30)
        stage.follow("late", token: 1, age: .seconds(7 * hour))
        _ = stage.settle()
        var ended: Int64?
        for second in 0..<hour where ended == nil {
            stage.pass(seconds: 1)
            if stage.settle().contains(where: { $0.token == [1] && $0.event == .end }) { ended = second }
        }
        #expect(ended.map { (hour - 600...hour - 299).contains($0 + 1) } == true, "\(ended ?? -1) s")
    }

    /// Many, so that the hand goes round in many steps.
    @Test func nobodyIsForgotten() {
        stage.publish(1)
        for member in 0..<1000 {
            stage.follow("member \(member)")
            if member % 10 == 0 { stage.pass(seconds: 1) }
        }
        _ = stage.settle()
        var ends = 0
        for _ in 0..<(8 * hour - 300) / 10 {
            stage.pass(seconds: 10)
            ends += stage.settle().count
        }
        #expect(ends == 1000)
        #expect(stage.shard.statistics.activities == 0)
    }

    @Test func whoHasNoTokenIsForgottenAfterEightHours() {
        stage.publish(1)
        stage.start()
        _ = stage.settle()
        stage.pass(seconds: 8 * hour - 1)
        #expect(stage.settle().isEmpty)
        #expect(stage.shard.statistics.activities == 1)
        stage.pass(seconds: 301)
        #expect(stage.settle().isEmpty)
        _ = stage.passUntilPush(seconds: 301)
        #expect(stage.shard.statistics.activities == 0)
        #expect(stage.fates() == [.expired])
    }

    // MARK: - Renewal

    /// Started by a push, with its token, an hour old.
    private func begin() {
        stage.publish(1, renews: true)
        stage.start()
        _ = stage.settle()
        stage.follow()
        stage.pass(seconds: hour)
        #expect(stage.settle().isEmpty)
    }

    @Test func theOldOneEndsWhenTheNewOnesTokenHasRegistered() throws {
        begin()
        let (after, pushes) = stage.passUntilPush(seconds: 8 * hour)
        #expect((6 * hour + 1800...6 * hour + 2101).contains(after), "\(after) s")
        let start = try #require(pushes.first?.payload.start)
        #expect(pushes.count == 1)
        #expect(String(decoding: start.attributes, as: UTF8.self) == #"{"activity":"card~2","match":"m1"}"#)
        stage.answer(pushes, .accepted)
        stage.publish(2, renews: true)
        #expect(stage.settle().map(\.token) == [[1]], "the old card is kept current")
        stage.follow("card~2", token: 2)
        let next = stage.settle()
        #expect(next.map(\.event).sorted { "\($0)" < "\($1)" } == [.end, .update])
        #expect(next.first { $0.event == .end }?.token == [1])
        #expect(next.first { $0.event == .update }?.token == [2])
        #expect(stage.fates() == [.renewed(as: ActivityID(hashing: "card~2"))])
        #expect(stage.shard.statistics.activities == 1)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func withoutATokenTheOldOneStaysToTheLast() {
        begin()
        _ = stage.passUntilPush(seconds: 8 * hour)
        stage.pass(seconds: 1500)
        stage.publish(2, renews: true)
        #expect(stage.settle().map(\.token) == [[1]])
        stage.pass(seconds: hour)
        #expect(stage.passUntilPush(seconds: 400).pushes.isEmpty)
        #expect(stage.fates() == [.expired])
        #expect(stage.shard.statistics.activities == 1)
    }

    @Test func withoutASuccessorItEnds() {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .deadToken)
        let (after, pushes) = stage.passUntilPush(seconds: hour)
        #expect((900...1500).contains(after), "\(after) s")
        #expect(pushes.map(\.event) == [.end])
        #expect(pushes.map(\.state) == [#"{"score":1}"#])
    }

    @Test func theFirstNameMeansTheNewOne() {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.follow("card~2", token: 2)
        _ = stage.settle()
        stage.follow("card", token: 9)
        stage.publish(2, renews: true)
        #expect(stage.settle().map(\.token) == [[2]], "the old card's token, reported late, means nothing")
        stage.unfollow("card")
        #expect(stage.settle().map(\.token) == [[2]])
        #expect(stage.shard.statistics.activities == 0)
        #expect(stage.shard.successors.isEmpty)
        stage.follow("card", token: 5)
        #expect(stage.settle().map(\.token) == [[5]], "and a new beginning is one")
    }

    @Test func andItIsRenewedInItsTurn() {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.follow("card~2", token: 2)
        _ = stage.settle()
        let (_, pushes) = stage.passUntilPush(seconds: 8 * hour)
        stage.answer(pushes, .accepted)
        #expect(pushes.map(\.event) == [.start])
        stage.follow("card~3", token: 3)
        #expect(stage.settle().map(\.token) == [[2]])
        stage.publish(2, renews: true)
        #expect(stage.settle().map(\.token) == [[3]])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// Whoever ends the card while its successor starts wants neither.
    @Test func unfollowedInBetweenBothEnd() {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.unfollow()
        #expect(stage.settle().map(\.token) == [[1]])
        stage.follow("card~2", token: 2)
        let pushes = stage.settle()
        #expect(pushes.map(\.event) == [.end])
        #expect(pushes.map(\.token) == [[2]])
        #expect(stage.shard.statistics.activities == 0)
        #expect(stage.shard.successors.isEmpty)
    }

    @Test func aDismissedCardIsNotRenewed() {
        begin()
        stage.publish(2, renews: true)
        _ = stage.settle(.deadToken)
        #expect(stage.passUntilPush(seconds: 8 * hour).pushes.isEmpty)
        #expect(stage.shard.statistics.activities == 0)
    }

    /// An activity that the app started can be renewed when it is told how.
    @Test func theAppsOwnActivity() {
        stage.publish(1, renews: true)
        stage.follow()
        stage.start()
        _ = stage.settle()
        let (_, pushes) = stage.passUntilPush(seconds: 8 * hour)
        #expect(pushes.map(\.event) == [.start])
        #expect(pushes.map(\.token) == [[7]])
    }
}
