import FanfareAPNs
import Testing

@testable import APNsSimulator
@testable import FanfareFanOut

/// Connections that end with all their requests in flight, or never answer them: the state of a push that may have arrived is sent
/// again, and its alert is not.
@Suite struct LostConnectionDeliveryTests {
    enum Trouble {
        /// APNs ends the connection on which a bad token has come.
        case badTokens
        /// Every connection takes all requests after a while, and answers only PINGs.
        case wedges
        case both

        var hasBadTokens: Bool { self != .wedges }
        var hasWedges: Bool { self != .badTokens }
    }

    private static let people = 5000

    /// - Parameters:
    ///   - bad: number of tokens of which one is bad.
    ///   - streams: pushes in flight on a connection, at most.
    @Test(arguments: [
        (Trouble.badTokens, bad: 1000, streams: 100), (.badTokens, bad: 100, streams: 1000),
        (.wedges, bad: 1000, streams: 100), (.wedges, bad: 1000, streams: 1000), (.both, bad: 1000, streams: 100),
    ])
    func alertsThatNobodyKnowsOfAreThoseInFlight(_ trouble: Trouble, bad share: Int, streams: Int) throws {
        let stage = try DeliveryStage {
            $0.requestTimeout = .milliseconds(500)
        } simulator: {
            $0.streams = .init(streams)
            if trouble.hasBadTokens {
                $0.mixes = [.init(prefix: "ff", answer: .badDeviceToken)]
                $0.losesConnectionAt = .badDeviceToken
            }
            if trouble.hasWedges { $0.wedge = .init(afterRequests: 800) }
            // The simulator's clock goes on while the stage's stands still.
            $0.stampAgeMaxSeconds = 3600
        }
        let simulator = stage.simulator
        let shard = stage.shard
        for person in 0..<Self.people {
            let isBad = trouble.hasBadTokens && person % share == share / 2
            stage.follow(
                person,
                token: [isBad ? 0xff : 1, UInt8(person >> 8), UInt8(person & 255)] + [UInt8](repeating: 9, count: 77))
        }
        let bad = trouble.hasBadTokens ? Self.people / share : 0
        stage.publish(1)
        // Time passes only while nothing else happens, so that no slow part runs into a timeout.
        var last = (requests: -1, inFlight: -1)
        var quietTurns = 0
        try stage.run("everybody's goal") {
            let now = (
                requests: simulator.delivered + simulator.statistics[.badDeviceToken], inFlight: shard.sender.inFlight
            )
            quietTurns = now == last ? quietTurns + 1 : 0
            last = now
            stage.leap = quietTurns > 20 ? .milliseconds(50) : .zero
            return shard.sender.inFlight == 0 && shard.statistics.owed == 0
        }
        let alerts = shard.statistics.alerts
        let lost = simulator.statistics.connectionsLost + simulator.statistics.connectionsWedged
        print(
            "told: \(trouble), one bad token in \(share), \(streams) streams: of \(Self.people) alerts"
                + " \(alerts.uncertain) uncertain; \(simulator.statistics.connectionsLost) connections lost,"
                + " \(simulator.statistics.connectionsWedged) wedged of \(simulator.statistics.connections)")
        #expect(shard.statistics.activities == Self.people - bad, "and no other token was taken for a bad one")
        #expect(!trouble.hasBadTokens || simulator.statistics.connectionsLost > 0)
        #expect(!trouble.hasWedges || simulator.statistics.connectionsWedged > 0)
        #expect(shard.statistics.pushes.refused == 0)
        // All pushes in flight, and a few tries before a connection that answers none of them is replaced.
        #expect(alerts.uncertain <= lost * (streams + 10))
        // A connection that replaces a lost one is narrower.
        if trouble == .badTokens { #expect(alerts.uncertain <= Self.people / 5) }
        try stage.close()

        let accepted = try stage.accepted().filter { !$0.isEmpty }
        #expect(accepted.count == Self.people - bad, "everybody has the state")
        #expect(accepted.allSatisfy { $0.count { $0.alert != nil } <= 1 }, "nobody is told twice")
        // A request that was lost unread with its connection alerts no phone.
        let untold = accepted.count { $0.allSatisfy { $0.alert == nil } }
        #expect(untold <= alerts.uncertain)
        #expect(accepted.count - untold >= alerts.accepted)
    }
}
