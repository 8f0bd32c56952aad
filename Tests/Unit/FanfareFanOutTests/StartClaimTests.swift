import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// With a store, starts leave only once claims that name them are durable.
@Suite struct StartClaimTests {
    private static func stage(namedMax: Int = 4096) -> EmbeddedShard {
        let shard = Shard()
        shard.keepClaims(ClaimLimits(namedMax: namedMax))
        return EmbeddedShard(shard)
    }

    private static func mark(_ activity: String, number: UInt32 = 7) -> StartMark {
        StartMark(ActivityMark(ActivityID(hashing: activity), token: []), number: number)
    }

    /// Lets the store take each request until nothing is left to be sent.
    private static func settle(_ stage: EmbeddedShard) -> (pushes: [EmbeddedShard.Push], requests: [ClaimRequest]) {
        var pushes: [EmbeddedShard.Push] = []
        var requests: [ClaimRequest] = []
        while true {
            pushes += stage.settle()
            let new = stage.claims()
            requests += new
            #expect(stage.shard.violatedInvariant() == nil)
            guard let last = new.last else { return (pushes, requests) }
            stage.confirm(last.ticket)
        }
    }

    @Test func aStartWaitsForItsClaim() {
        let stage = Self.stage()
        stage.publish(1)
        stage.start()
        #expect(stage.pull().isEmpty, "nothing leaves before the claim is durable")
        let requests = stage.claims()
        #expect(requests.map(\.ticket) == [1] && requests[0].starts == [Self.mark("card")])
        #expect(requests[0].claims.isEmpty && !stage.shard.isQuiet)
        #expect(stage.pull().isEmpty && stage.claims().isEmpty, "a start is claimed once")
        #expect(stage.shard.violatedInvariant() == nil)
        stage.confirm(1)
        #expect(stage.settle().map(\.event) == [.start])
        stage.follow()
        #expect(stage.settle().isEmpty && stage.shard.isQuiet)
    }

    /// A start that is claimed and has not left is lost to a crash.
    @Test func aStartIsClaimedWhenItIsAboutToLeave() {
        let stage = Self.stage()
        stage.start()
        #expect(stage.pull().isEmpty && stage.claims().isEmpty, "its topic has nothing to show")
        stage.publish(1)
        #expect(stage.pull().isEmpty)
        #expect(stage.claims().count == 1)
    }

    @Test func withoutAStoreNoStartIsClaimed() {
        let stage = EmbeddedShard()
        stage.publish(1)
        stage.start()
        #expect(stage.settle().map(\.event) == [.start])
        #expect(stage.claims().isEmpty)
    }

    @Test func fewStartsAreClaimedAtATime() {
        let stage = Self.stage(namedMax: 4)
        for number in 0..<18 { stage.start("card \(number)", device: UInt8(number)) }
        stage.publish(1)
        let (pushes, requests) = Self.settle(stage)
        #expect(Set(pushes.map(\.token)) == Set((0..<18).map { [UInt8($0)] }) && pushes.count == 18)
        #expect(requests.map(\.starts.count) == [4, 4, 4, 4, 2])
        #expect(Set(requests.flatMap(\.starts)) == Set((0..<18).map { Self.mark("card \($0)") }))
    }

    /// Starts that go, and one that comes in the place of another, keep nobody's claim.
    @Test func startsThatGoMakeRoom() {
        let stage = Self.stage(namedMax: 2)
        stage.publish(1)
        for number in 0..<6 { stage.start("card \(number)", device: UInt8(number)) }
        #expect(stage.pull().isEmpty)
        #expect(stage.claims().map(\.starts) == [[Self.mark("card 0"), Self.mark("card 1")]])
        stage.unfollow("card 0")
        stage.unfollow("card 2")
        // The slot of the first one, maybe, whose claim is on its way.
        stage.start("other", device: 9)
        stage.confirm(1)
        #expect(stage.pull().map(\.token) == [[1]])
        #expect(stage.claims().map(\.starts) == [[Self.mark("card 3")], [Self.mark("card 4")]])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// Those whose claims are durable hold the room of others until they leave, and no longer.
    @Test func startsThatGoWithADurableClaimMakeRoom() {
        let stage = Self.stage(namedMax: 2)
        stage.publish(1)
        for number in 0..<4 { stage.start("card \(number)", device: UInt8(number)) }
        #expect(stage.pull().isEmpty)
        stage.confirm(1)
        _ = stage.claims()
        stage.unfollow("card 0")
        #expect(stage.claims().map(\.starts) == [[Self.mark("card 2")]])
        // A topic without a version may have none for days.
        stage.move("card 1", to: TopicID("other"))
        #expect(stage.claims().map(\.starts) == [[Self.mark("card 3")]])
        stage.confirm(3)
        #expect(Set(Self.settle(stage).pushes.map(\.token)) == [[2], [3]])
        stage.publish(1, in: TopicID("other"))
        let (pushes, requests) = Self.settle(stage)
        #expect(pushes.map(\.token) == [[1]] && requests.isEmpty, "its claim holds wherever it has moved")
    }

    /// The other topic may have nothing to show for days, and claims of starts that cannot leave keep others from leaving.
    @Test(arguments: [false, true]) func startsThatMoveWhileTheyAwaitClaimsMakeRoom(areNamed: Bool) {
        let stage = Self.stage(namedMax: 2)
        stage.publish(1)
        for number in 0..<2 { stage.start("card \(number)", device: UInt8(number)) }
        #expect(stage.pull().isEmpty)
        if !areNamed {
            // Behind these, which hold the room.
            for number in 2..<4 { stage.start("card \(number)", device: UInt8(number)) }
            #expect(stage.pull().isEmpty)
        }
        let moved = areNamed ? 0..<2 : 2..<4
        for number in moved { stage.move("card \(number)", to: TopicID("other")) }
        stage.start("last", device: 9)
        let (pushes, requests) = Self.settle(stage)
        #expect(Set(pushes.map(\.token)) == Set([[9]] + (areNamed ? [] : [[0], [1]])))
        #expect(stage.shard.isQuiet)
        stage.publish(1, in: TopicID("other"))
        let (later, laterRequests) = Self.settle(stage)
        #expect(Set(later.map(\.token)) == Set(moved.map { [UInt8($0)] }))
        #expect((requests + laterRequests).flatMap(\.starts).count == (areNamed ? 3 : 5), "each is claimed once")
    }

    /// The store forgets a claim of a start after a day.
    @Test func aStartThatHasWaitedForHoursIsClaimedAnew() {
        let stage = Self.stage()
        stage.publish(1)
        stage.start()
        _ = stage.pull()
        stage.confirm(1)
        stage.move(to: TopicID("other"))
        _ = stage.claims()
        stage.pass(seconds: 13 * 3600)
        stage.publish(1, in: TopicID("other"))
        #expect(stage.pull().isEmpty)
        #expect(stage.claims().map(\.starts) == [[Self.mark("card")]])
        stage.confirm(2)
        #expect(stage.settle().map(\.event) == [.start])
    }

    /// A store keeps the row of each start that was taken, unless the shard says that no start comes of it: the next process would start the card.
    @Test func aStartThatMakesNoCardIsReported() {
        let stage = Self.stage()
        stage.shard.reportRemovals()
        stage.publish(1)
        // A card that the app has started: the request says how to renew it.
        stage.follow("card", token: 1)
        _ = Self.settle(stage)
        stage.start("card", device: 7)
        #expect(stage.removals() == [EmbeddedShard.Removal("card", [7])])
        // A request that is refused.
        stage.shard.apply(
            .start(EmbeddedShard.request("long", device: 8), .lineup([], favourite: nil)), at: stage.moment)
        #expect(stage.removals() == [EmbeddedShard.Removal("long", [8])])
        // A name that is taken until its end is settled.
        stage.unfollow("card")
        stage.start("card", device: 9)
        #expect(stage.removals() == [EmbeddedShard.Removal("card", [9])])
        // A request for a start that is pending, whose row it has become.
        stage.start("pending", device: 1)
        stage.shard.apply(
            .start(EmbeddedShard.request("pending", device: 2), .lineup([], favourite: nil)), at: stage.moment)
        #expect(stage.removals().isEmpty)
        // A start that is pending, and its newest token.
        stage.start("other", device: 3)
        stage.start("other", device: 4)
        #expect(stage.removals().isEmpty)
        _ = Self.settle(stage)
        _ = stage.removals()
        stage.start("other", device: 5)
        stage.pass(seconds: 9 * 3600, answering: .accepted)
        #expect(
            stage.removals().contains(EmbeddedShard.Removal("other", [5])), "the store has the token that came last")
    }

    @Test(arguments: [DeliveryOutcome.notProcessed, .throttled, .serviceError])
    func aStartThatIsRepeatedHasItsClaim(outcome: DeliveryOutcome) {
        let stage = Self.stage()
        stage.publish(1)
        stage.start()
        _ = stage.pull()
        stage.confirm(1)
        _ = stage.claims()
        stage.answer(stage.pull(), outcome)
        #expect(stage.passUntilPush(seconds: 300).pushes.map(\.event) == [.start])
        #expect(stage.claims().isEmpty)
    }

    /// A start that the device's budget holds back is not claimed, because it may leave days later.
    @Test func aStartWithoutABudgetIsNotClaimed() {
        let stage = Self.stage()
        stage.publish(1)
        for number in 0..<100 { stage.start("card \(number)") }
        let (pushes, requests) = Self.settle(stage)
        #expect((1..<100).contains(pushes.count))
        #expect(requests.flatMap(\.starts).count == pushes.count)
        // Those that go while they wait for their claims leave it to others.
        let other = Self.stage()
        other.publish(1)
        for number in 0..<100 { other.start("card \(number)") }
        #expect(other.pull().isEmpty)
        let claimed = other.claims().flatMap(\.starts).count
        #expect(claimed == pushes.count)
        for number in 0..<claimed { other.unfollow("card \(number)") }
        other.start("last")
        #expect(Self.settle(other).pushes.count == 1)
    }

    /// A backend may hand in a start under a renewed card's own name, so that the store has its row.
    @Test func aRenewalIsClaimed() {
        let stage = Self.stage()
        stage.publish(1, renews: true)
        stage.start()
        _ = Self.settle(stage)
        stage.follow()
        stage.pass(seconds: 3600)
        _ = Self.settle(stage)
        #expect(stage.passUntilPush(seconds: 9 * 3600).pushes.isEmpty)
        #expect(stage.claims().map(\.starts) == [[Self.mark("card~2")]])
        stage.confirm(2)
        #expect(stage.settle().map(\.event).contains(.start))
    }

    /// The store has the number of the first request, whatever requests follow, and another one once the card has gone.
    @Test func claimsGoByTheFirstRequest() {
        let stage = Self.stage()
        stage.start(number: 1)
        stage.start(device: 8, number: 2)
        stage.publish(1)
        let (pushes, requests) = Self.settle(stage)
        #expect(pushes.map(\.token) == [[8]] && requests.map(\.starts) == [[Self.mark("card", number: 1)]])
        stage.pass(seconds: 9 * 3600, answering: .accepted)
        stage.start(number: 3)
        #expect(Self.settle(stage).requests.map(\.starts) == [[Self.mark("card", number: 3)]])
    }

    /// A disk that takes nothing keeps starts, because a second one would be a second card.
    @Test func aStartWaitsForAStoreThatTakesNothing() {
        let stage = Self.stage()
        stage.publish(1)
        stage.start()
        #expect(stage.passUntilPush(seconds: 3600).pushes.isEmpty)
        stage.confirm(1)
        #expect(stage.settle().map(\.event) == [.start])
    }

    @Test(arguments: 1...20) func eachStartLeavesOnceAndClaimedWhateverHappens(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let stage = Self.stage(namedMax: Int(random.next() % 5) + 1)
        var (claimed, left): (Set<StartMark>, [UInt8]) = ([], [])
        var (asked, durable, number) = (UInt64(0), UInt64(0), UInt8(0))
        var open: [UInt64: [StartMark]] = [:]
        let topics = [stage.topic, TopicID("other")]
        var names: [UInt8: String] = [:]
        for step in 0..<600 {
            if step == 500 { for topic in topics { stage.publish(1, in: topic) } }
            switch step < 500 ? random.next() % 10 : 9 {
            case 0...2:
                number &+= 1
                guard names[number] == nil else { break }
                names[number] = "card \(number)"
                stage.start("card \(number)", device: number)
            case 3: if let name = names.values.randomElement(using: &random) { stage.move(name, to: topics[1]) }
            case 4: if let name = names.values.randomElement(using: &random) { stage.unfollow(name) }
            case 5: stage.publish(Int64(step), in: topics.randomElement(using: &random))
            case 6:
                if asked > durable {
                    durable += 1 + random.next() % (asked - durable)
                    stage.confirm(durable)
                }
            default:
                if step >= 500, asked > durable {
                    durable = asked
                    stage.confirm(durable)
                }
                stage.pass(seconds: 1)
                let pushes = stage.pull()
                for (ticket, marks) in open where ticket <= durable { claimed.formUnion(marks) }
                for push in pushes where push.event == .start {
                    #expect(claimed.contains(Self.mark("card \(push.token[0])")), "seed \(seed), step \(step)")
                    left.append(push.token[0])
                }
                stage.answer(pushes, random.chance(0.8) ? .accepted : .uncertain)
            }
            for request in stage.claims() {
                asked = request.ticket
                open[request.ticket] = request.starts
            }
            if let violation = stage.shard.violatedInvariant() {
                Issue.record("seed \(seed), step \(step): \(violation)")
                return
            }
        }
        #expect(Set(left).count == left.count, "seed \(seed): a card twice")
        #expect(left.count > 20 && stage.shard.isQuiet, "seed \(seed)")
    }
}
