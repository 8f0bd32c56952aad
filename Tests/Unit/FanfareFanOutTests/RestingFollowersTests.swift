import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct RestingFollowersTests {
    private func follower(_ member: UInt32, of topic: TopicIndex = 3) -> RestingFollower {
        RestingFollower(topic: topic, member: ActivitySlot(member), number: 5, freshness: 2, alerts: nil)
    }

    @Test func rowsAreThoseOfTheirIndicesAndThereAreNoOthers() {
        var followers = RestingFollowers()
        #expect(followers[0] == nil && followers.count == 0)
        followers.rest(follower(8), at: 5)
        followers.rest(follower(9), at: 2)
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
                let awake = followers.wake(index)
                #expect(awake.member == ActivitySlot(member), "seed \(seed), step \(step)")
                #expect(awake.topic == TopicIndex(place) && awake.number == 5, "seed \(seed), step \(step)")
            } else {
                members[place] = UInt32(step)
                followers.rest(follower(UInt32(step), of: TopicIndex(place)), at: index)
            }
            #expect(followers.count == members.count && followers.violation() == nil, "seed \(seed), step \(step)")
        }
    }

    @Test func aFollowerFarFromTheFirstPlaceTakesOneSegment() {
        var followers = RestingFollowers()
        followers.rest(follower(8), at: 1_000_000)
        let members = [999_999, 1_000_000, 1_000_001, 5_000_000].map { followers[AudienceIndex($0)]?.member.rawValue }
        #expect(members == [nil, 8, nil, nil] && followers.madeCount == 1)
        #expect(followers.count == 1 && followers.violation() == nil)
    }

    @Test func twoAudiencesAtOneIndexAreAViolation() {
        var followers = RestingFollowers()
        for member in UInt32(0)..<2 { followers.rest(follower(member), at: 1) }
        #expect(followers.violation() != nil)
    }
}
