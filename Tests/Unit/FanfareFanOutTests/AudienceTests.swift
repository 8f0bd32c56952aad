import FanfareModel
import FanfareQueues
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// An audience without its shard: who has what, and what goes to its rest and comes back.
@Suite struct AudienceTests {
    private let second: Int64 = 1_790_000_000

    private func moment(_ seconds: Int64) -> Moment {
        Moment(wallMilliseconds: (second + seconds) * 1000, monotonicNanoseconds: 1 + seconds * 1_000_000_000)
    }

    private func alert(_ cause: String) -> IssuedAlert {
        IssuedAlert(
            Alert(
                cause: cause, class: .essential, text: AlertText(title: cause, body: ""), freshFor: .seconds(300),
                highlight: nil), of: TopicID("order"), at: 0)
    }

    /// An audience that can rest: its only member has the newest version.
    private func follower(
        _ member: UInt32 = 8, having number: UInt32 = 5, alerts: AlertHistory? = nil, showing latest: Publication? = nil
    ) -> Audience {
        let audience = Audience(topics: [.none], trackedMax: 4)
        audience.wake(
            RestingFollower(
                topic: 3, member: ActivitySlot(member), number: number, freshness: 2,
                alerts: alerts.map { RestingFollower.Alerts($0) }), showing: latest)
        return audience
    }

    // MARK: Members

    /// Makes slots join, each of which has missed nothing.
    private func join(_ slots: Range<UInt32>, _ audience: Audience, _ positions: inout GrowingColumn<UInt32>) {
        for slot in slots {
            audience.countJoiner(having: nil)
            audience.join(ActivitySlot(slot), isVisited: true, missesAlert: false, positions: &positions)
        }
    }

    @Test func eachMemberAndStartIsOwedANewVersion() {
        let audience = Audience(topics: [0], trackedMax: 4)
        var positions = GrowingColumn<UInt32>(repeating: 0, count: 4)
        join(0..<3, audience, &positions)
        audience.addStart(ActivitySlot(3), isLate: false, positions: &positions)
        #expect(audience.owed == 0 && audience.lack == nil && audience.violation() == nil)
        audience.publish(AudienceVersion(.test()), alerting: nil, freshness: 0, at: 0)
        #expect(audience.owed == 4 && audience.refused == 0 && audience.violation() == nil)
        #expect(audience.lack?.target == 1 && audience.lack?.oldest == 0 && audience.lack?.owed == 4)
    }

    @Test func memberThatIsDeliveredTheVersionLacksNothing() {
        let audience = follower()
        audience.publish(AudienceVersion(.test()), alerting: nil, freshness: 0, at: 0)
        audience.noteSent(1)
        #expect(audience.lack?.oldest == 5 && !audience.isResting)
        audience.visited(1)
        audience.noteDelivered(1, from: 5, to: 6)
        audience.noteAnswered(1, 6)
        audience.count(owed: -1, refused: 0)
        #expect(audience.lack == nil && audience.isResting && audience.violation() == nil)
    }

    @Test func memberThatWasRefusedTheVersionLacksItUntilTheNextOne() {
        let audience = follower()
        audience.publish(AudienceVersion(.test()), alerting: nil, freshness: 0, at: 0)
        audience.count(owed: -1, refused: 1)
        #expect(audience.lack?.owed == 0 && audience.lack?.refused == 1 && !audience.isResting)
        audience.publish(AudienceVersion(.test(2)), alerting: nil, freshness: 0, at: 0)
        #expect(audience.owed == 1 && audience.refused == 0)
    }

    @Test func changesOfALineupThatWaitAreLacked() {
        let lineup = Lineup(rotation: Rotation(LineupRules(), at: .always))
        let audience = Audience(topics: [0, 1], lineup: lineup, trackedMax: 4)
        #expect(audience.lack == nil)
        let overtaken = [7, 8, 9].map { lineup.deferPublication($0, capacity: 2) }
        #expect(overtaken == [nil, nil, 8], "the one that has waited longest stays")
        #expect(audience.lack?.hasDeferredChanges == true && audience.lack?.owed == 0)
        let taken = lineup.takeDeferred()
        #expect(taken == [7, 9] && audience.lack == nil)
    }

    @Test func memberThatLeavesTakesItsVersionAndItsPushAlong() {
        let audience = Audience(topics: [0], trackedMax: 4)
        var positions = GrowingColumn<UInt32>(repeating: 0, count: 2)
        join(0..<2, audience, &positions)
        audience.publish(AudienceVersion(.test()), alerting: nil, freshness: 0, at: 0)
        audience.noteSent(1)
        audience.count(owed: -1, refused: 0)
        audience.leave(at: Int(positions[1]), having: 0, inFlight: 1, positions: &positions)
        #expect(Array(audience.order.members) == [ActivitySlot(0)])
        #expect(audience.versions.matches(members: [0: 1], inFlight: [:]) && audience.violation() == nil)
    }

    @Test func joinerThatLacksTheNewestAlertMakesTheUnvisitedMembersGoFirst() {
        let audience = follower()
        audience.publish(AudienceVersion(.test()), alerting: alert("goal"), freshness: 0, at: 0)
        audience.visited(1)
        var positions = GrowingColumn<UInt32>(repeating: 0, count: 10)
        audience.countJoiner(having: (version: 5, displayHash: 0))
        audience.join(ActivitySlot(9), isVisited: false, missesAlert: true, positions: &positions)
        #expect(audience.alerts.unreached == 1 && audience.preferredLane == 0)
    }

    @Test func moreThanEachMemberCanBeOwedIsAViolation() {
        let audience = follower()
        audience.count(owed: 2, refused: 0)
        #expect(audience.violation() != nil)
    }

    @Test func audienceThatIsReleasedMoreOftenThanRetainedIsAViolation() {
        let audience = follower()
        audience.retain()
        #expect(!audience.isResting && audience.violation() == nil)
        audience.release()
        #expect(audience.isResting && audience.violation() == nil)
        audience.release()
        #expect(audience.violation() != nil)
    }

    // MARK: Rest

    @Test func followerWakesAsItWasBeforeItsRest() {
        let latest = Publication.test(7)
        let audience = follower(showing: latest)
        #expect(audience.canRest(showing: latest, stamp: 0))
        let row = audience.restingFollower
        #expect(row.topic == 3 && row.member == ActivitySlot(8) && row.number == 5 && row.freshness == 2)
        let awake = Audience(topics: [.none], trackedMax: 4)
        awake.wake(row, showing: latest)
        #expect(awake.topics == [3] && Array(awake.order.members) == [ActivitySlot(8)] && awake.target == 5)
        #expect(awake.newest.publication === latest && awake.priority == .immediate && awake.times.freshness == 2)
        #expect(awake.canRest(showing: latest, stamp: 0), "nothing is pending")
    }

    @Test func followerOfATopicWithoutPublicationsHasNoVersionWhenItWakes() {
        let awake = follower(having: 0)
        #expect(awake.target == 0 && awake.newest.publication == nil && awake.priority == .conserving)
    }

    @Test func alertsOfBeforeTheRestComeBackWithTheirFollower() {
        var alerts = AlertHistory()
        alerts.append(alert("goal"), in: 5, for: 0, having: 5)
        let quiet = follower().restingFollower
        let alerted = follower(alerts: alerts).restingFollower
        #expect(quiet.alerts == nil && alerted.alerts != nil)
        let object = Audience(topics: [.none], trackedMax: 4)
        object.wake(alerted, showing: nil)
        #expect(object.alerts.newest == 5 && object.alerts.pending.map(\.alert.cause) == ["goal"])
        object.wake(quiet, showing: nil)
        #expect(object.alerts.isEmpty, "whatever the object has served before")
    }

    @Test func waitForClaimsIsThatOfOneTenant() {
        let audience = follower()
        audience.serve(as: 7)
        let isNew = audience.claimWait.awaitRoom()
        audience.claimWait.noteReady()
        #expect(isNew && audience.tenant == 7 && audience.claimWait.isUnnamed && audience.claimWait.isReady)
        audience.serve(as: 8)
        #expect(audience.tenant == 8 && !audience.claimWait.isUnnamed && !audience.claimWait.isReady)
    }

    @Test func lineupWakesAsItWasBeforeItsRest() throws {
        let rules = LineupRules()
        var rotation = Rotation(rules, pinned: 1, at: 5_000_000)
        rotation.happened(at: 2, weight: 60, rules, now: 1_000_000_000)
        let latest = Publication.test(2)
        let state = RestingLineup(
            row: 6, pinned: 1, member: ActivitySlot(3), number: 12, displayHash: 99, priority: .immediate,
            publishedAt: 77, rotation: rotation.resting, spotlight: 2, wakeUp: nil, alertCounts: SIMD2(3, 4))
        let lineup = Lineup(rotation: Rotation(rules, at: .always))
        let audience = Audience(topics: [1], lineup: lineup, trackedMax: 4)
        let topics: [TopicIndex] = [7, 8, 9]
        audience.wake(state, topics, showing: latest, rules)
        #expect(audience.isResting && audience.newest.publication === latest && audience.event == .update)
        #expect(audience.topics == [7, 8, 9] && audience.target == 12 && audience.versions.newestDisplayHash == 99)
        #expect(audience.priority == .immediate && audience.alerts.resting == SIMD2(3, 4))
        #expect(lineup.publishedAt == 77 && lineup.publishedSpotlight == 2 && lineup.row == 6)
        #expect(lineup.rotation.pinned == 1 && lineup.rotation.position == 2)
        #expect(lineup.displayIsOld && lineup.historyIsShort, "what it shows is made anew")
        let candidates = Array(repeating: SpotlightCandidate(.live, importance: 10), count: 3)
        let held = lineup.rotation.wanted(candidates, now: 20_999_000_000)
        let free = lineup.rotation.wanted(candidates, now: 21_000_000_000)
        #expect(held == 2 && free == 1, "what happened is held for its dwell, then the favourite has its place")
        let again = try #require(audience.restingLineup)
        #expect(again.row == 6 && again.pinned == 1 && again.member == ActivitySlot(3) && again.number == 12)
        #expect(again.displayHash == 99 && again.publishedAt == 77 && again.spotlight == 2)
        #expect(again.rotation.position == 2 && again.alertCounts == SIMD2(3, 4))
    }

    @Test func followersOfATopicHaveNoStateOfALineup() {
        let state = follower().restingLineup
        #expect(state?.row == nil)
    }

    // MARK: Stamps

    /// A card that has had a state every moment for an hour joins a match.
    @Test func oneActivityFarAheadDoesNotTakeTheOthersAlong() {
        let audience = Audience(topics: [0], trackedMax: 1)
        #expect(audience.stamp(after: 0, at: moment(0)) == second)
        #expect(!audience.isFarAhead(second + 60, at: moment(0)) && audience.isFarAhead(second + 61, at: moment(0)))
        // An audience that is ahead itself has no strangers.
        #expect(audience.stamp(after: second + 59, at: moment(0)) == second + 60)
        #expect(!audience.isFarAhead(second + 100, at: moment(0)))
    }
}
