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

    /// Activities that share an audience, or are due one after the other.
    enum Neighbours: CaseIterable {
        case ofAnAudience, withATopicEach, withALineupEach, withATopicEachBesideAnAudience

        func audience(of person: Int, isSick: Bool) -> AudienceKey {
            switch self {
            case .ofAnAudience: .topic(DeliveryStage.topic)
            case .withATopicEach: .topic(TopicID("order/\(person)"))
            case .withALineupEach: .lineup([DeliveryStage.topic, TopicID("match/\(person)")])
            case .withATopicEachBesideAnAudience:
                isSick ? .topic(TopicID("order/\(person)")) : .topic(DeliveryStage.topic)
            }
        }
    }

    /// The tokens of those who are served first have failed from the first push on, as those of one bad batch do. All tries of the
    /// service would be made with them, if chance did not choose whom to try.
    @Test(arguments: Neighbours.allCases, Failure.allCases)
    func hundredsOfNeighboursThatFailKeepNoGoalFromTheOthers(neighbours: Neighbours, failure: Failure) throws {
        let stage = try DeliveryStage(pool: { $0.connections = 2 }, simulator: { failure.befall(&$0) })
        let (sick, others) = (300, 1200)
        for person in 0..<(sick + others) {
            let head: UInt8 = person < sick ? 0xff : 1
            stage.follow(
                person, neighbours.audience(of: person, isSick: person < sick),
                token: [head, 0, UInt8(person >> 8), UInt8(person & 255)] + [UInt8](repeating: 9, count: 76))
        }
        stage.leap = .milliseconds(5)
        let before = stage.now.monotonic
        var serial: UInt32 = 0
        func publish(_ topic: TopicID) {
            serial += 1
            stage.publish(serial, of: topic)
        }
        if case .withATopicEach = neighbours {
            for person in 0..<(sick + others) { publish(TopicID("order/\(person)")) }
        } else {
            for person in 0..<sick { publish(TopicID("order/\(person)")) }
            publish(DeliveryStage.topic)
        }
        try stage.run("the goal") { stage.simulator.delivered == others }
        #expect(
            stage.now.monotonic - before < .seconds(10), "a try of the service with each of them takes twenty minutes")
        try stage.close()
    }

    /// The only tokens that were tried are answered as by a proxy that does not know them, before any push has worked.
    @Test func twoStrangersAtTheBeginningKeepNoGoalFromTheOthers() throws {
        let stage = try DeliveryStage(
            pool: { $0.connections = 2 },
            simulator: { $0.mixes = [.init(prefix: "ff00", answer: .badTopic)] })
        let others = 500
        for person in 0..<(2 + others) {
            let head: UInt8 = person < 2 ? 0xff : 1
            stage.follow(
                person, token: [head, 0, UInt8(person >> 8), UInt8(person & 255)] + [UInt8](repeating: 9, count: 76))
        }
        stage.leap = .milliseconds(5)
        let before = stage.now.monotonic
        stage.publish(1)
        try stage.run("the goal") { stage.simulator.delivered == others }
        #expect(stage.now.monotonic - before < .seconds(10))
        try stage.close()
    }

    /// Hundreds of starts that fail come before the members of their audience.
    @Test func startsThatFailKeepNoChangeFromTheMembers() throws {
        let stage = try DeliveryStage(pool: { $0.connections = 2 }, simulator: { Failure.error.befall(&$0) })
        let (starts, members) = (300, 1200)
        for person in 0..<members {
            stage.follow(
                person, token: [1, 0, UInt8(person >> 8), UInt8(person & 255)] + [UInt8](repeating: 9, count: 76))
        }
        for person in members..<(members + starts) {
            let request = StartRequest(
                activity: "card \(person)",
                token: [0xff, 0, UInt8(person >> 8), UInt8(person & 255)] + [UInt8](repeating: 9, count: 76),
                attributesType: "MatchAttributes", attributes: ["match": "1"],
                alert: AlertText(title: "It begins", body: ""))
            stage.shard.apply(.start(request, .topic(DeliveryStage.topic)), at: stage.now)
        }
        stage.leap = .milliseconds(5)
        let before = stage.now.monotonic
        stage.publish(1, isSilent: true)
        try stage.run("the change") { stage.simulator.delivered == members }
        #expect(stage.now.monotonic - before < .seconds(10))
        try stage.close()
    }
}
