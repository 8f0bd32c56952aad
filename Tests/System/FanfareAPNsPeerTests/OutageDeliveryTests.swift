import APNsSimulator
import FanfareAPNs
import FanfareModel
import Testing

@testable import FanfareFanOut

/// Ten minutes without APNs, played in seconds, for an audience with many unreachable activities.
@Suite struct OutageDeliveryTests {
    enum Outage: CaseIterable {
        /// No server listens.
        case gone
        /// Every push is answered 503.
        case errors

        func begin(_ simulator: Simulator) {
            switch self {
            case .gone: simulator.goDown()
            case .errors: simulator.errorShare = 1
            }
        }

        func end(_ simulator: Simulator) {
            switch self {
            case .gone: simulator.comeUp()
            case .errors: simulator.errorShare = 0
            }
        }
    }

    private static let activities = 20_000
    private static let sick = 1000

    /// All reachable activities have the newest state within one sweep and ten seconds after the outage. Time passes only
    /// while all pushes in flight are failing ones: sweeps take none of it, and the ten seconds consist of waits alone.
    @Test(arguments: Outage.allCases) func afterAnOutageEverybodyHasTheNewestStateWithinASweepAndTenSeconds(
        _ outage: Outage
    ) throws {
        let stage = try DeliveryStage {
            $0.deadShare = 0.1
            $0.mixes = [.init(prefix: "ff", answer: .internalServerError)]
        }
        let simulator = stage.simulator
        for person in 0..<Self.activities {
            let isSick = person % (Self.activities / Self.sick) == 0
            stage.follow(
                person,
                token: [isSick ? 0xff : 1, UInt8(person >> 8), UInt8(person & 255)] + [UInt8](repeating: 9, count: 77))
        }
        let others = Self.activities - Self.sick
        stage.publish(1)
        try stage.run("the first sweep") { simulator.delivered + simulator.dead == others }
        let healthy = simulator.delivered

        outage.begin(simulator)
        stage.publish(2)
        let until: MonotonicTime = stage.now.monotonic + .seconds(600)
        stage.leap = .seconds(1)
        try stage.run("the outage") { stage.now.monotonic >= until && stage.shard.sender.inFlight == 0 }
        #expect(simulator.delivered == healthy)

        let end = stage.now.monotonic
        outage.end(simulator)
        try stage.run("the newest state") {
            stage.leap = stage.shard.sender.inFlight > 1 ? .zero : .milliseconds(100)
            return simulator.delivered == 2 * healthy
        }
        let recovery = (stage.now.monotonic - end).milliseconds
        print("told: outage (\(outage)): of the recovery, \(recovery) ms were waits")
        #expect(recovery <= 10_000)
        try stage.close()
    }
}
