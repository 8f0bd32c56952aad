import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// Which members an alert may leave for, and how many of them are named beforehand.
@Suite struct AlertClaimsTests {
    private static func stage(
        members: Int, patience: Duration = .seconds(2), block: Int = 100, namedMax: Int = 4096
    ) -> EmbeddedShard {
        let shard = Shard(lineups: LineupRules(gather: .zero))
        shard.keepClaims(ClaimLimits(patience: patience, blocks: block...block, namedMax: namedMax))
        let stage = EmbeddedShard(shard)
        for number in 0..<members { stage.follow("card \(number)", token: UInt8(number)) }
        stage.publish(1)
        stage.settle()
        return stage
    }

    /// Returns the lines for operators since the last call.
    private static func reports(_ stage: EmbeddedShard) -> [String] {
        stage.feedback().compactMap { if case .report(let line) = $0 { line } else { nil } }
    }

    /// Lets the store take each request until nothing leaves any more, some pushes at a time.
    ///
    /// - Returns: the number of alerts, and of the activities that each request names.
    private static func run(_ stage: EmbeddedShard, limit: Int = 100) -> (told: Int, named: [Int]) {
        var (told, named): (Int, [Int]) = (0, [])
        for _ in 0..<50 {
            let pushes = stage.pull(limit: limit)
            told += pushes.count { $0.payload.alert != nil }
            stage.answer(pushes)
            for request in stage.claims() {
                named.append(request.claims.flatMap(\.activities).count)
                stage.confirm(request.ticket)
            }
        }
        return (told, named)
    }

    @Test func anAlertLeavesOnceItsClaimIsDurableAndIsClaimedOnce() {
        let stage = Self.stage(members: 2)
        stage.publish(2, alert: "goal")
        #expect(stage.pull().isEmpty)
        let requests = stage.claims()
        #expect(requests.map { $0.claims.flatMap(\.activities).count } == [2])
        #expect(stage.pull().isEmpty && stage.claims().isEmpty)
        for request in requests { stage.confirm(request.ticket) }
        #expect(stage.settle().map(\.payload.alert?.title) == ["goal", "goal"])
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    @Test func aVersionWithoutAnAlertWaitsForNoClaim() {
        let stage = Self.stage(members: 2)
        stage.publish(2)
        #expect(stage.pull().count == 2 && stage.claims().isEmpty)
    }

    @Test func aSweepClaimsOneBlockAtATime() {
        let stage = Self.stage(members: 6, block: 2)
        stage.publish(2, alert: "goal")
        let (told, named) = Self.run(stage, limit: 1)
        #expect(told == 6 && named.reduce(0, +) == 6 && named.allSatisfy { $0 <= 2 }, "\(named)")
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func noMoreActivitiesAreNamedThanThereIsRoom() {
        let stage = Self.stage(members: 0, block: 2, namedMax: 4)
        let topics = (0..<4).map { TopicID("match/\($0)") }
        for (place, topic) in topics.enumerated() {
            for card in 0..<2 { stage.follow("card \(place) \(card)", token: UInt8(10 * place + card), in: topic) }
            stage.publish(1, in: topic)
        }
        stage.settle()
        for topic in topics { stage.publish(2, in: topic, alert: "goal") }
        let (told, named) = Self.run(stage)
        #expect(told == 8 && named.reduce(0, +) == 8 && named.allSatisfy { $0 <= 4 }, "\(named)")
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func alertsLeaveWithoutClaimsOnceTheStoreHasBeenSilentForTooLong() throws {
        let stage = Self.stage(members: 2)
        stage.publish(2, alert: "goal")
        #expect(stage.pull().isEmpty)
        let request = try #require(stage.claims().last)
        stage.pass(.milliseconds(1900))
        #expect(stage.pull().isEmpty)
        stage.pass(.milliseconds(101))
        #expect(stage.settle().map(\.payload.alert?.title) == ["goal", "goal"])
        #expect(Self.reports(stage).count { $0.contains("leave without them") } == 1)
        stage.confirm(request.ticket)
        #expect(Self.reports(stage).contains("the store takes claims again"))
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func eachAlertThatLeavesWithoutItsClaimIsCounted() throws {
        let stage = Self.stage(members: 3)
        stage.publish(2, alert: "goal")
        #expect(stage.pull().isEmpty && stage.shard.statistics.alerts.unclaimed == 0)
        let request = try #require(stage.claims().last)
        stage.pass(.milliseconds(2001))
        #expect(stage.settle().count == 3)
        #expect(stage.shard.statistics.alerts.unclaimed == 3)
        stage.pass(seconds: 1)
        stage.publish(3)
        #expect(stage.settle().count == 3)
        #expect(stage.shard.statistics.alerts.unclaimed == 3, "a silent version has no alert")
        stage.confirm(request.ticket)
        stage.pass(seconds: 1)
        stage.publish(4, alert: "second")
        let (told, _) = Self.run(stage)
        #expect(told == 3 && stage.shard.statistics.alerts.unclaimed == 3)
    }

    @Test func aLineupOfOneMemberWaitsForItsClaim() throws {
        let stage = Self.stage(members: 0)
        let (id, other) = (ActivityID(hashing: "lineup"), TopicID("other"))
        stage.apply(.follow(id, .lineup([stage.topic, other], favourite: nil), token: [1]))
        for topic in [stage.topic, other] { stage.publish(2, in: topic) }
        stage.settle()
        stage.pass(seconds: 60)
        stage.settle()
        stage.publish(3, alert: "goal")
        #expect(stage.pull().isEmpty && stage.shard.awaitsClaim(id))
        let requests = stage.claims()
        #expect(requests.map { $0.claims.flatMap(\.activities).count } == [1])
        #expect(stage.pull().isEmpty && stage.claims().isEmpty)
        stage.confirm(try #require(requests.first).ticket)
        #expect(stage.settle().map(\.payload.alert?.title) == ["goal"])
        #expect(!stage.shard.awaitsClaim(id) && stage.shard.violatedInvariant() == nil)
    }
}
