import FanfareAPNs
import FanfareModel
import Testing

@testable import APNsSimulator
@testable import FanfareFanOut

/// The key is revoked in the middle of starts and of an end that alerts; another key replaces it minutes later.
@Suite struct RevokedKeyDeliveryTests {
    private static let people = 2000
    private static let starts = 50
    private static let other = TopicID("match/2")

    private func wait(_ duration: Duration, on stage: DeliveryStage) throws {
        let until: MonotonicTime = stage.now.monotonic + duration
        stage.leap = .seconds(1)
        try stage.run("\(duration)") { stage.now.monotonic >= until && stage.shard.sender.inFlight == 0 }
        stage.leap = .zero
    }

    @Test func everyEndEveryAlertAndEveryStartArrivesOnceWhenTheKeyIsMended() throws {
        let stage = try DeliveryStage { _ in }
        let simulator = stage.simulator
        for person in 0..<Self.people {
            stage.follow(
                person, token: [1, UInt8(person >> 8), UInt8(person & 255)] + [UInt8](repeating: 9, count: 77))
        }
        stage.publish(1)
        stage.publish(2, of: Self.other)
        try stage.run("the first state") { simulator.delivered == Self.people && stage.shard.sender.inFlight == 0 }

        stage.publish(3, .end)
        for person in 0..<Self.starts {
            let start = StartRequest(
                activity: "card of \(person)", token: [2, UInt8(person)] + [UInt8](repeating: 9, count: 78),
                attributesType: "MatchAttributes", alert: AlertText(title: "It begins", body: ""))
            stage.shard.apply(.start(start, .topic(Self.other)), at: stage.now)
        }
        stage.pool.workAvailable()
        try stage.run("a part of the sweep") { simulator.delivered >= Self.people + 300 }
        try stage.revokeKey()
        try stage.run("the stop") { stage.pool.trouble != nil && stage.shard.sender.inFlight == 0 }
        let refused = simulator.statistics[.invalidProviderToken]
        let delivered = simulator.delivered
        print("told: revoked key: \(delivered - Self.people) of 2,050 were taken before, and \(refused) refused")
        #expect(delivered < 2 * Self.people && refused > 0)

        try wait(.seconds(180), on: stage)
        #expect(stage.pool.trouble?.kind == .configuration)
        #expect(simulator.delivered == delivered)
        try stage.mendKey()
        stage.leap = .milliseconds(100)
        try stage.run("the rest") {
            simulator.delivered >= 2 * Self.people + Self.starts && stage.shard.sender.inFlight == 0
        }
        try wait(.seconds(600), on: stage)
        #expect(stage.pool.trouble == nil)
        #expect(stage.shard.statistics.activities == Self.starts, "those whose update tokens are not known yet")
        try stage.close()

        let accepted = try stage.accepted()
        #expect(accepted.count == Self.people + Self.starts)
        let started = accepted.filter { $0.first?.event == "s" }
        #expect(started.count == Self.starts && started.allSatisfy { $0.count == 1 }, "one start each")
        let ended = accepted.filter { $0.first?.event == "u" }
        #expect(ended.count == Self.people)
        #expect(ended.allSatisfy { $0.map(\.event) == ["u", "e"] }, "the goal, and one end")
        #expect(ended.allSatisfy { $0[0].alert != nil && $0[1].alert != nil && $0[0].alert != $0[1].alert })
    }

    /// The clock is wrong by a day, and nothing shows APNs' time while the key is revoked. The first accepted push
    /// has a JWT of the right time: its stamp must have that time, too, or the phone drops the push with its alert.
    @Test(arguments: [Int64(26), -26])
    func theFirstPushAfterARevocationIsStampedAsItsJWTIs(hoursWrong: Int64) throws {
        let people = 10
        let stage = try DeliveryStage(goesOn: true) { _ in }
        for person in 0..<people { stage.follow(person, token: [1, UInt8(person)] + [UInt8](repeating: 9, count: 78)) }
        stage.publish(1)
        try stage.run("the first state") { stage.simulator.delivered == people && stage.shard.sender.inFlight == 0 }
        stage.wallError = .seconds(hoursWrong * 3600)
        try wait(.seconds(60), on: stage)
        try stage.revokeKey()
        stage.publish(2)
        try wait(.seconds(200), on: stage)
        try stage.mendKey()
        try wait(.seconds(130), on: stage)
        #expect(stage.simulator.statistics[.badRequestPayload] == 0, "what a phone would drop, the simulator refuses")
        try stage.close()
        let accepted = try stage.accepted()
        #expect(
            accepted.count == people && accepted.allSatisfy { $0.count { $0.alert != nil } == 2 }, "a goal each time")
    }
}
