import APNsSimulator
import FanfareAPNs
import FanfareModel
import Testing

@testable import FanfareFanOut

/// One token among a thousand whose pushes always fail does not affect the others.
@Suite struct SickTokenDeliveryTests {
    /// The failure of each request to tokens that begin with ff00.
    enum Failure: CaseIterable {
        case error, refusedStream, reset

        func befall(_ options: inout SimulatorOptions) {
            switch self {
            case .error: options.mixes = [.init(prefix: "ff00", answer: .internalServerError)]
            case .refusedStream: options.resets = [.init(prefix: "ff00", code: .refusedStream)]
            case .reset: options.resets = [.init(prefix: "ff00", code: .internalError)]
            }
        }
    }

    private static let others = 999
    private static let sick = 0xff00

    /// - Parameter leaves: whether the sick token's card is to be ended, which comes before all else.
    @Test(arguments: Failure.allCases, [false, true])
    func aTokenThatFailsForGoodKeepsNoGoalFromTheOthers(failure: Failure, leaves: Bool) throws {
        // A pool that sized itself would take the leaps of time during a request for distance, and grow.
        let stage = try DeliveryStage(pool: { $0.connections = 2 }, simulator: { failure.befall(&$0) })
        let simulator = stage.simulator
        stage.publish(1)
        stage.follow(Self.sick, token: [0xff, 0x00] + [UInt8](repeating: 7, count: 78))
        for person in 0..<Self.others {
            stage.follow(
                person, token: [1, UInt8(person >> 8), UInt8(person & 255)] + [UInt8](repeating: 9, count: 77))
        }
        try stage.run("the first state") { simulator.delivered == Self.others && stage.shard.sender.inFlight == 0 }
        if leaves { stage.shard.apply(.unfollow(ActivityID(UInt64(Self.sick))), at: stage.now) }
        for goal: UInt32 in 2...4 {
            // Only the sick activity is due, now and then, and its waits pass quickly.
            let failures = simulator.failures
            stage.leap = .seconds(1)
            try stage.run("ten more tries") { simulator.failures >= failures + 10 && stage.shard.sender.inFlight == 0 }
            // No time passes from here on: a push that waited for anything would wait for ever.
            stage.leap = .zero
            stage.publish(goal)
            try stage.run("goal \(goal)") {
                simulator.delivered == Self.others * Int(goal) && stage.shard.sender.inFlight == 0
            }
            #expect(stage.pool.trouble == nil)
        }
        #expect(simulator.statistics.connections == 2, "it costs no connection either: \(stage.reports)")
        try stage.close()
    }

    /// Who shares an audience, or is due one after the other.
    enum Neighbours: CaseIterable {
        case ofAnAudience, withATopicEach, withALineupEach

        func audience(of person: Int) -> AudienceKey {
            switch self {
            case .ofAnAudience: .topic(DeliveryStage.topic)
            case .withATopicEach: .topic(TopicID("order/\(person)"))
            case .withALineupEach: .lineup([DeliveryStage.topic, TopicID("match/\(person)")])
            }
        }
    }

    /// The tokens of those who are served first have failed from the first push on, as those of one bad batch do. All tries of the
    /// service would be made with them, if chance did not choose whom to try.
    @Test(arguments: Neighbours.allCases)
    func hundredsOfNeighboursThatFailKeepNoGoalFromTheOthers(neighbours: Neighbours) throws {
        let stage = try DeliveryStage(pool: { $0.connections = 2 }, simulator: { Failure.error.befall(&$0) })
        let (sick, others) = (300, 1200)
        for person in 0..<(sick + others) {
            let head: UInt8 = person < sick ? 0xff : 1
            stage.follow(
                person, neighbours.audience(of: person),
                token: [head, 0, UInt8(person >> 8), UInt8(person & 255)] + [UInt8](repeating: 9, count: 76))
        }
        stage.leap = .milliseconds(5)
        let before = stage.now.monotonicNanoseconds
        switch neighbours {
        case .withATopicEach:
            for person in 0..<(sick + others) { stage.publish(UInt32(person + 1), of: TopicID("order/\(person)")) }
        case .ofAnAudience, .withALineupEach: stage.publish(1)
        }
        try stage.run("the goal") { stage.simulator.delivered == others }
        let seconds = Double(stage.now.monotonicNanoseconds - before) / 1e9
        #expect(seconds < 10, "a try of the service with each of them takes twenty minutes")
        #expect(stage.pool.trouble == nil)
        try stage.close()
    }
}
