import FanfareFanOut
import FanfareModel
import Laboratory
import Testing

@Suite struct PreferenceShareTests {
    private static func preferences(of scenario: Scenario) -> [Preferences?] {
        let population = Population(scenario, topics: [TopicID("match")])
        return (0..<scenario.subscribers.count).map {
            guard case .follow(_, _, _, let preferences, _, _) = population.follow($0) else { return nil }
            return preferences
        }
    }

    private static func scenario(_ change: (inout Scenario.Subscribers) -> Void) -> Scenario {
        var scenario = Scenario(name: "preferences")
        scenario.subscribers.count = 20_000
        change(&scenario.subscribers)
        return scenario
    }

    @Test func subscribersWhoChooseNothingHaveNoPreferences() {
        #expect(Self.preferences(of: Self.scenario { _ in }).allSatisfy { $0 == nil })
    }

    @Test func eachPreferenceHasItsShareOfTheSubscribers() {
        let chosen = Self.preferences(
            of: Self.scenario {
                ($0.silencedShare, $0.essentialShare, $0.quietShare, $0.frequentShare) = (0.2, 0.5, 0.3, 0.1)
            })
        func share(_ isMeant: (Preferences) -> Bool) -> Double {
            Double(chosen.count { $0.map(isMeant) ?? false }) / Double(chosen.count)
        }
        #expect(abs(share { $0.alerts == .none } - 0.2) < 0.02)
        #expect(abs(share { $0.alerts == .essential } - 0.4) < 0.02)
        #expect(abs(share { $0.quietHours != nil } - 0.3) < 0.02)
        #expect(abs(share(\.frequentUpdates) - 0.1) < 0.02)
    }

    /// A third of those with quiet hours are in them at any minute of the day.
    @Test(arguments: [0, 480, 719, 1200, 1439]) func aRunMeetsAsManyQuietHoursWheneverItIs(minute: Int) {
        let chosen = Self.preferences(of: Self.scenario { $0.quietShare = 1 })
        let quiet = chosen.count { $0?.effect(atMinute: minute).quietMask == .essential }
        #expect(abs(Double(quiet) / Double(chosen.count) - 1.0 / 3) < 0.02)
    }

    /// A build that knows further preferences gives the same load the same subscribers.
    @Test func preferencesChangeNobodysTopicsAndTokens() {
        let topics = (0..<20).map { TopicID("match/\($0)") }
        let plain = Population(Self.scenario { $0.zipf = 1 }, topics: topics)
        let choosy = Population(
            Self.scenario { ($0.zipf, $0.essentialShare, $0.quietShare, $0.frequentShare) = (1, 1, 1, 1) },
            topics: topics)
        for subscriber in 0..<1000 {
            guard case .follow(let id, let key, let token, _, _, _) = plain.follow(subscriber),
                case .follow(let other, let otherKey, let otherToken, _, _, _) = choosy.follow(subscriber)
            else { return }
            #expect(id == other && key == otherKey && token == otherToken)
        }
        #expect(plain.followers() == choosy.followers())
    }
}
