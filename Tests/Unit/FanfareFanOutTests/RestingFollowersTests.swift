import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct RestingFollowersTests {
    /// An audience that can rest: its only member has the newest version.
    private func audience(
        _ member: UInt32, of topic: TopicIndex = 3, having number: UInt32 = 5, alerts: AlertHistory? = nil,
        showing latest: Publication? = nil
    ) -> Audience {
        let audience = Audience(topics: [.none], trackedMax: 4)
        audience.wake(
            RestingFollower(
                topic: topic, member: ActivitySlot(member), number: number, freshness: 2,
                alerts: alerts.map { RestingFollower.Alerts($0) }), showing: latest)
        return audience
    }

    @Test func aFollowerWakesAsItWasBeforeItsRest() {
        let latest = Publication.test(7)
        let audience = audience(8, of: 3, having: 5, showing: latest)
        #expect(audience.canRest(showing: latest, stamp: 0))
        var followers = RestingFollowers()
        followers.rest(audience, at: 1)
        let row = followers[1]
        #expect(row?.topic == 3 && row?.member == ActivitySlot(8) && row?.number == 5 && row?.freshness == 2)
        let awake = followers.wake(1, trackedMax: 4) { $0 == 3 ? latest : nil }
        #expect(awake.topics == [3] && awake.order.members == [ActivitySlot(8)] && awake.target == 5)
        #expect(awake.newest.publication === latest && awake.priority == .immediate && awake.times.freshness == 2)
        #expect(awake.canRest(showing: latest, stamp: 0), "nothing is pending")
    }

    @Test func aFollowerOfATopicWithoutPublicationsHasNoVersionWhenItWakes() {
        var followers = RestingFollowers()
        followers.rest(audience(8, having: 0), at: 0)
        let awake = followers.wake(0, trackedMax: 4) { _ in nil }
        #expect(awake.target == 0 && awake.newest.publication == nil && awake.priority == .conserving)
    }

    @Test func rowsAreThoseOfTheirIndicesAndThereAreNoOthers() {
        var followers = RestingFollowers()
        #expect(followers[0] == nil && followers.count == 0)
        followers.rest(audience(8), at: 5)
        followers.rest(audience(9), at: 2)
        let members = (0..<8).map { followers[AudienceIndex($0)]?.member.rawValue }
        #expect(members == [nil, nil, 9, nil, nil, 8, nil, nil])
        #expect(followers.count == 2 && followers.violation() == nil)
    }

    /// Audiences rest and wake in any order.
    @Test(arguments: 0..<20 as Range<UInt64>) func rowsAgreeWithADictionary(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var followers = RestingFollowers()
        var members: [Int: UInt32] = [:]
        for step in 0..<1000 {
            let place = Int.random(in: 0..<50, using: &random)
            let index = AudienceIndex(place)
            #expect(followers[index]?.member.rawValue == members[place], "seed \(seed), step \(step)")
            if let member = members.removeValue(forKey: place) {
                let awake = followers.wake(index, trackedMax: 4) { _ in nil }
                #expect(awake.order.members == [ActivitySlot(member)], "seed \(seed), step \(step)")
                #expect(awake.topics == [TopicIndex(place)], "seed \(seed), step \(step)")
            } else {
                members[place] = UInt32(step)
                followers.rest(audience(UInt32(step), of: TopicIndex(place)), at: index)
            }
            #expect(followers.count == members.count && followers.violation() == nil, "seed \(seed), step \(step)")
        }
    }

    @Test func alertsOfBeforeTheRestAreThoseOfTheirFollowerAlone() {
        let alert = Alert(
            cause: "goal", class: .essential, text: AlertText(title: "Goal", body: ""), freshFor: .seconds(300),
            highlight: nil)
        var alerts = AlertHistory()
        alerts.append(IssuedAlert(alert, of: TopicID("order"), at: 0), in: 5, for: 0, having: 5)
        var followers = RestingFollowers()
        followers.rest(audience(9), at: 0)
        followers.rest(audience(8, alerts: alerts), at: 1)
        #expect(followers[0] != nil && followers[0]?.alerts == nil && followers[1]?.alerts != nil)
        let quiet = followers.wake(0, trackedMax: 4) { _ in nil }
        let alerted = followers.wake(1, trackedMax: 4) { _ in nil }
        #expect(quiet.alerts.isEmpty, "whichever object it has")
        #expect(alerted.alerts.newest == 5 && alerted.alerts.pending.map(\.alert.cause) == ["goal"])
    }

    @Test func objectThatRestsServesAnotherFollowerAsAnotherTenant() {
        let objects = (UInt32(0)..<3).map { audience($0) }
        var followers = RestingFollowers()
        for (place, object) in objects.enumerated() { followers.rest(object, at: AudienceIndex(place)) }
        let tenants = Set(objects.map(\.servedTenant))
        let awake = [1, 2, 0].map { followers.wake(AudienceIndex($0), trackedMax: 4) { _ in nil } }
        #expect(awake.map { $0.order.members } == [[ActivitySlot(1)], [ActivitySlot(2)], [ActivitySlot(0)]])
        #expect(Set(awake.map { ObjectIdentifier($0) }) == Set(objects.map { ObjectIdentifier($0) }))
        #expect(!awake.contains { tenants.contains($0.servedTenant) })
    }

    @Test func fourThousandObjectsAreKeptForFollowersThatWakeAndFurtherOnesAreMadeAnew() {
        let objects = (UInt32(0)..<5000).map { audience($0) }
        var followers = RestingFollowers()
        for (place, object) in objects.enumerated() { followers.rest(object, at: AudienceIndex(place)) }
        #expect(followers.count == 5000 && followers.violation() == nil)
        let awake = objects.indices.map { followers.wake(AudienceIndex($0), trackedMax: 4) { _ in nil } }
        let kept = Set(objects.map { ObjectIdentifier($0) }).intersection(awake.map { ObjectIdentifier($0) })
        #expect(kept.count == 4096 && followers.count == 0 && followers.violation() == nil)
        let members = awake.map { $0.order.members[0].rawValue }
        #expect(members == Array(UInt32(0)..<5000))
    }

    @Test func twoAudiencesAtOneIndexAreAViolation() {
        var followers = RestingFollowers()
        for member in UInt32(0)..<2 { followers.rest(audience(member), at: 1) }
        #expect(followers.violation() != nil)
    }
}
