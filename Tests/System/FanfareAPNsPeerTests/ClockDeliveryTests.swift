import FanfareAPNs
import FanfareModel
import Testing

@testable import APNsSimulator
@testable import FanfareFanOut

/// The machine's clock is set for good, while those of APNs and the phones are right: the simulator judges JWTs by its own time, and
/// refuses the stamps that phones drop.
@Suite struct ClockDeliveryTests {
    private static let people = 10

    private func stage() throws -> DeliveryStage {
        let stage = try DeliveryStage(goesOn: true) { _ in }
        for person in 0..<Self.people {
            stage.follow(person, token: [1, UInt8(person)] + [UInt8](repeating: 9, count: 78))
        }
        return stage
    }

    /// Lets time pass without any push.
    private func wait(_ duration: Duration, on stage: DeliveryStage) throws {
        let until: MonotonicTime = stage.now.monotonic + duration
        stage.leap = .seconds(10)
        try stage.run("\(duration)") { stage.now.monotonic >= until && stage.shard.sender.inFlight == 0 }
        stage.leap = .zero
    }

    /// - Parameter limit: the time within which all phones must have it.
    private func goal(_ number: UInt32, within limit: Duration, on stage: DeliveryStage) throws {
        let before = stage.now.monotonic
        stage.publish(number)
        try stage.run("goal \(number)") {
            stage.simulator.delivered == Self.people * Int(number) && stage.shard.sender.inFlight == 0
        }
        let duration = stage.now.monotonic - before
        #expect(duration < limit, "goal \(number) took \(duration): \(stage.reports)")
        #expect(stage.pool.trouble == nil)
        #expect(stage.simulator.statistics[.badRequestPayload] == 0, "\(stage.simulator.statistics.payloadFaults)")
    }

    /// An error of two hours is a wrong time zone. Every goal of three hours arrives, and APNs never gets a JWT of the
    /// wrong time.
    @Test(arguments: [-26, -2, 2, 26]) func aClockThatIsSetForGoodStopsNoPush(by hours: Int) throws {
        let stage = try stage()
        try goal(1, within: .seconds(5), on: stage)
        stage.wallError = .seconds(hours * 3600)
        for number: UInt32 in 2...18 {
            try goal(number, within: .seconds(5), on: stage)
            try wait(.seconds(660), on: stage)
        }
        let statistics = stage.simulator.statistics
        #expect(statistics[.invalidProviderToken] == 0 && statistics[.expiredProviderToken] == 0)
        #expect(statistics[.tooManyProviderTokenUpdates] == 0)
        try stage.close()
    }

    /// No push has been sent yet, so it is unknown which clock is right: the wall is tried, then the clock of the start.
    @Test(arguments: [-26, -2, 2, 26]) func aClockThatIsSetForGoodBeforeTheFirstPushStopsNone(by hours: Int) throws {
        let stage = try stage()
        stage.wallError = .seconds(hours * 3600)
        try wait(.seconds(600), on: stage)
        for number: UInt32 in 1...8 {
            try goal(number, within: .seconds(5), on: stage)
            try wait(.seconds(660), on: stage)
        }
        let statistics = stage.simulator.statistics
        let refused = statistics[.invalidProviderToken] + statistics[.expiredProviderToken]
        #expect((1...2).contains(refused), "\(statistics)")
        #expect(stage.reports.contains { $0.contains("check this machine's clock") }, "\(stage.reports)")
        try stage.close()
    }

    /// A virtual machine is moved to another host. The time that APNs had accepted is over.
    @Test(arguments: [2, 9, 26]) func aMachineThatStoodStillGoesOnWithinSeconds(hours: Int) throws {
        let stage = try stage()
        try goal(1, within: .seconds(5), on: stage)
        stage.standStill(for: .seconds(hours * 3600))
        // The clock is in doubt for five of these seconds.
        try goal(2, within: .seconds(10), on: stage)
        for number: UInt32 in 3...8 {
            try wait(.seconds(660), on: stage)
            try goal(number, within: .seconds(5), on: stage)
        }
        try stage.close()
    }
}
