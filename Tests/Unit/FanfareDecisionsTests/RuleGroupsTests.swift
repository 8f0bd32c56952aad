import FanfareModel
import Testing

@testable import FanfareDecisions

/// The groups of a kind's rules, each by itself.
@Suite struct RuleGroupsTests {
    @Test func fieldRulesFollowTheFieldsOfTheContent() {
        var content = TopicRules.Content(fields: ["clock": .ignored])
        #expect(content.fieldRules.ignored == ["clock"])
        content.fields["clock"] = nil
        content.fields["eta"] = .quantised(.minute)
        content.fields["courier"] = .redacted(Redaction(.initial))
        #expect(content.fieldRules.ignored.isEmpty)
        #expect(content.fieldRules.quantisers.map(\.key) == ["eta"])
        #expect(content.fieldRules.redactions.map(\.key) == ["courier"])
    }

    @Test func theReserveOfTheContentIsClampedHoweverItIsSet() {
        var content = TopicRules.Content(attributesReserve: .bytes(5))
        #expect(content.attributesReserve == .kibibytes(1))
        content.attributesReserve = .bytes(9999)
        #expect(content.attributesReserve == .kibibytes(3))
        content.attributesReserve = .bytes(2000)
        #expect(content.attributesReserve == .bytes(2000))
    }

    @Test func rulesWithoutArgumentsHaveTheDefaultsOfTheDocumentation() {
        let rules = TopicRules()
        #expect(
            rules.pace
                == TopicRules.Pace(
                    minimumInterval: .seconds(2), staleAfter: .fixed(.seconds(3600)), lateAfter: .seconds(5)))
        #expect(
            rules.lifetime
                == TopicRules.Lifetime(
                    beginsWhen: [], beginsWithin: .seconds(168 * 3600), endsWhen: [],
                    endsAfterSilence: .seconds(24 * 3600), dismissal: .proportional, forgetAfter: .seconds(4 * 3600),
                    reopens: .never, renews: false))
        #expect(
            rules.alerts
                == TopicRules.Alerts(
                    requested: AlertRule(.ordinary, burst: 3, refill: .seconds(300), freshFor: .seconds(300)),
                    ordinary: TokenBucket.Size(burst: 4, refill: .seconds(300)),
                    reserved: TokenBucket.Size(burst: 8, refill: .seconds(300))))
        #expect(rules.content.fields.isEmpty && rules.content.derived == DerivedFields())
        #expect(rules.content.attributesReserve == .kibibytes(1))
    }

    @Test func aRhythmYieldsATimeWithinItsBounds() {
        let stale = StaleAfter.rhythm(times: 4, .init(atLeast: .seconds(60), atMost: .seconds(900)))
        #expect(stale.duration(gap: nil) == .seconds(900))
        #expect(stale.duration(gap: .seconds(1)) == .seconds(60))
        #expect(stale.duration(gap: .seconds(30)) == .seconds(120))
        #expect(stale.duration(gap: .seconds(3600)) == .seconds(900))
        #expect(StaleAfter.fixed(.seconds(7)).duration(gap: .seconds(30)) == .seconds(7))
    }
}
