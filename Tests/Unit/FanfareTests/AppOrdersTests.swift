import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

@Suite struct AppOrdersTests {
    private static func publication(_ serial: UInt64, of topic: String = "match") -> Publication {
        Publication.test(serial, of: TopicID(topic), kind: .generic)
    }

    /// Returns the serials of what the commands publish.
    private func published(_ commands: [ShardCommand]) -> [UInt64] {
        commands.compactMap { if case .publish(let publication) = $0 { publication.serial } else { nil } }
    }

    @Test func withoutOrdersEverythingPasses() {
        var orders = AppOrders()
        let admitted = orders.admit(Self.publication(1))
        #expect(admitted?.serial == 1 && !orders.withholdsAlert(of: Self.publication(1)))
    }

    @Test func aPausedAppGetsTheNewestVersionOfEachTopicOnceInOrder() {
        var orders = AppOrders()
        _ = orders.apply(.pause)
        var admitted: [Publication?] = []
        for (serial, topic) in [(1, "a"), (2, "b"), (3, "a")] as [(UInt64, String)] {
            admitted.append(orders.admit(Self.publication(serial, of: topic)))
        }
        #expect(admitted.allSatisfy { $0 == nil } && orders.withholdsAlert(of: Self.publication(4)))
        let resumed = published(orders.apply(.resume))
        let again = published(orders.apply(.resume))
        #expect(resumed == [2, 3] && again == [])
    }

    @Test func aForgottenTopicIsNotPublishedByResume() {
        var orders = AppOrders()
        _ = orders.apply(.pause)
        _ = orders.admit(Self.publication(1, of: "a"))
        _ = orders.admit(Self.publication(2, of: "b"))
        orders.forget(TopicID("a"))
        let resumed = published(orders.apply(.resume))
        #expect(resumed == [2])
    }

    @Test func aMutedAppGetsStatesWithoutAlertsUntilItIsUnmuted() {
        var orders = AppOrders()
        _ = orders.apply(.mute)
        let muted = orders.admit(Self.publication(1))
        #expect(muted?.serial == 1 && muted?.alert == nil && orders.withholdsAlert(of: Self.publication(1)))
        _ = orders.apply(.unmute)
        #expect(!orders.isMuted && !orders.withholdsAlert(of: Self.publication(2)))
    }

    @Test func republishReachesAnAppUnlessItIsPaused() {
        var orders = AppOrders()
        let open = orders.apply(.republish).count
        _ = orders.apply(.pause)
        let paused = orders.apply(.republish).count
        #expect(open == 1 && paused == 0)
    }
}
