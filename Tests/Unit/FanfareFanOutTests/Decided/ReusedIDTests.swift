import FanfareDecisions
import FanfareModel
import Testing

@testable import FanfareFanOut

/// A table in a restaurant: by the built-in rules, each guest's tenure is a new topic with the same id.
@Suite struct ReusedIDTests {
    private static let table = TopicID("table/7")
    private static let (ann, bob) = (0, 1)

    /// A decision core, a shard behind it, and a service with scripted answers.
    private final class Restaurant {
        let service = ScriptedService()
        private var core = DecisionCore(isLive: false)
        private var now = FeedTime(seconds: 1_790_000_000)

        func call(position: Int64, starts: Bool = false, alert: String? = nil) {
            now = now + .seconds(30)
            service.pass(seconds: 30)
            var decisions: [Decision] = []
            core.apply(
                FeedEvent(
                    topic: table, topicKind: .queue, at: now, kind: starts ? "start" : "position",
                    lifecycle: starts ? .start : nil, change: .patch(["position": .int(position)]),
                    alert: alert.map { AlertText(title: $0, body: "") }), now: now, into: &decisions)
            for decision in decisions {
                switch decision {
                case .publish(let publication): service.apply(.publish(publication))
                case .forget(let topic): service.apply(.forget(topic))
                case .revokeAlert(let topic, let cause): service.apply(.revokeAlert(topic: topic, cause: cause))
                case .record, .order: break
                }
            }
        }

        /// Returns the numbers that a guest's card got after the first `count` accepted pushes; ends are in brackets.
        func shown(to guest: Int, after count: Int = 0) -> [String] {
            service.accepted.dropFirst(count).filter { $0.member == guest }.map { push in
                let state = String(decoding: push.payload.state, as: UTF8.self)
                let number = state.split(separator: #""position":"#).dropFirst().last?.prefix { $0.isNumber } ?? ""
                return push.payload.event == .end ? "[\(number)]" : String(number)
            }
        }
    }

    private let restaurant = Restaurant()
    private var service: ScriptedService { restaurant.service }

    /// Ends Ann's tenure, and answers the push about it with this outcome.
    private func endAnnsTenure(_ outcome: DeliveryOutcome = .accepted) {
        restaurant.call(position: 3, starts: true)
        service.follow(ReusedIDTests.ann, .topic(ReusedIDTests.table))
        service.run()
        #expect(restaurant.shown(to: ReusedIDTests.ann) == ["3"])
        service.answer = { _, _ in outcome }
        restaurant.call(position: 0)
        service.run(turns: 4)
        service.answer = { _, _ in .accepted }
    }

    @Test(arguments: [DeliveryOutcome.throttled, .serviceError, .uncertain, .notProcessed])
    func activityThatLacksTheEndGetsNothingOfTheNextTenure(outcome: DeliveryOutcome) {
        endAnnsTenure(outcome)
        let before = service.accepted.count
        restaurant.call(position: 4, starts: true, alert: "Bob is next")
        service.follow(ReusedIDTests.bob, .topic(ReusedIDTests.table))
        service.pass(seconds: 100)
        service.run()
        #expect(restaurant.shown(to: ReusedIDTests.ann, after: before) == ["[0]"])
        #expect(restaurant.shown(to: ReusedIDTests.bob) == ["4"])
        #expect(service.told(of: "Bob is next").isEmpty, "who joins has missed nothing, and Ann is none of his")
        #expect(service.shard.statistics.activities == 1 && service.shard.isQuiet)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// The app follows first, and reports the tenure afterwards.
    @Test(arguments: [DeliveryOutcome.accepted, .throttled])
    func followAfterTheEndWaitsForTheNextTenure(outcome: DeliveryOutcome) {
        endAnnsTenure(outcome)
        let before = service.accepted.count
        service.follow(ReusedIDTests.bob, .topic(ReusedIDTests.table))
        service.run()
        #expect(restaurant.shown(to: ReusedIDTests.bob).isEmpty)
        restaurant.call(position: 4, starts: true, alert: "Bob is next")
        service.pass(seconds: 100)
        service.run()
        #expect(restaurant.shown(to: ReusedIDTests.ann, after: before) == (outcome == .accepted ? [] : ["[0]"]))
        #expect(restaurant.shown(to: ReusedIDTests.bob) == ["4"])
        #expect(service.told(of: "Bob is next") == [ReusedIDTests.bob])
        restaurant.call(position: 0)
        service.run()
        #expect(restaurant.shown(to: ReusedIDTests.bob) == ["4", "[0]"])
        #expect(service.shard.statistics.activities == 0 && service.shard.isQuiet)
        #expect(service.shard.membership.topics.count == 1 && service.shard.violatedInvariant() == nil)
    }
}
