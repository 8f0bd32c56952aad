import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct StandingOrdersTests {
    private static let kindAndAll: OrderScope = [.kind, .all]

    private static func orders(kinds: Int = 256, ids: Int = 4096) -> StandingOrders {
        var limits = Rules.Limits()
        (limits.orderedKindsMax, limits.eventIDsMax) = (kinds, ids)
        return StandingOrders(limits)
    }

    /// Outcome of a refusal; `nil` for an order that was taken.
    private static func refusal(_ answer: StandingOrders.Answer) -> Outcome? {
        switch answer {
        case .taken: nil
        case .refused(let outcome, _): outcome
        }
    }

    private static func bytes(of orders: StandingOrders) -> [UInt8] {
        var writer = SerialWriter()
        orders.write(to: &writer)
        return writer.bytes
    }

    @Test func anOrderForAllStandsForEveryKindAndOneForAKindForThatKindAlone() {
        var orders = Self.orders()
        _ = orders.take(.mute, for: nil, id: nil)
        _ = orders.take(.pause, for: .football, id: nil)
        let (football, hockey) = (orders.scopes(of: .football), orders.scopes(of: .hockey))
        #expect(football.muted == .all && football.paused == .kind)
        #expect(hockey.muted == .all && hockey.paused.isEmpty)
    }

    @Test func anOrderIsLiftedByTheOppositeOrderOfItsScopeAlone() {
        var orders = Self.orders()
        for kind in [nil, TopicKind.football, TopicKind.hockey] { _ = orders.take(.mute, for: kind, id: nil) }
        let both = orders.scopes(of: .football).muted
        #expect(both == Self.kindAndAll)
        _ = orders.take(.unmute, for: .football, id: nil)
        let football = orders.scopes(of: .football).muted
        #expect(football == .all)
        _ = orders.take(.unmute, for: nil, id: nil)
        let (none, hockey) = (orders.scopes(of: .football).muted, orders.scopes(of: .hockey).muted)
        #expect(none.isEmpty && hockey == .kind)
    }

    @Test func aMuteOutlastsAResumeAndAPauseAnUnmute() {
        for (order, opposite) in [(.mute, .resume), (.pause, .unmute)] as [(FeedEvent.Operation, FeedEvent.Operation)] {
            var orders = Self.orders()
            _ = orders.take(order, for: .ride, id: nil)
            _ = orders.take(opposite, for: .ride, id: nil)
            let scopes = orders.scopes(of: .ride)
            #expect(scopes.muted.isEmpty == (order == .pause) && scopes.paused.isEmpty == (order == .mute))
        }
    }

    @Test func republicationsAndResetsAreTakenAndStandForNothing() {
        var orders = Self.orders(kinds: 0)
        let answers = [
            orders.take(.republish, for: nil, id: nil), orders.take(.republish, for: .ride, id: nil),
            orders.take(.reset, for: nil, id: nil), orders.take(.reset, for: .ride, id: nil),
        ]
        let scopes = orders.scopes(of: .ride)
        #expect(answers.map(Self.refusal) == [nil, nil, nil, nil])
        #expect(scopes.muted.isEmpty && scopes.paused.isEmpty)
    }

    @Test func operationsForLaterTopicsAreThoseThatHoldAndLastingOnesAlsoTheirOpposites() {
        let operations = FeedEvent.Operation.allCases
        #expect(operations.filter(\.appliesToNewTopics) == [.mute, .pause])
        #expect(operations.filter(\.isLasting) == [.mute, .unmute, .pause, .resume])
    }

    @Test func anIDIsTakenOnceWhicheverOrderHasIt() {
        var orders = Self.orders()
        let mute = orders.take(.mute, for: nil, id: "o1")
        let unmute = orders.take(.unmute, for: nil, id: "o1")
        let forOneApp = [orders.take(id: "o1"), orders.take(id: "o2"), orders.take(id: "o2")]
        let pause = orders.take(.pause, for: .ride, id: "o2")
        #expect(Self.refusal(mute) == nil && Self.refusal(unmute) == .duplicate)
        #expect(forOneApp.map(Self.refusal) == [.duplicate, nil, .duplicate] && Self.refusal(pause) == .duplicate)
        let scopes = orders.scopes(of: .ride)
        #expect(scopes.muted == .all && scopes.paused.isEmpty, "a duplicate changes nothing")
        if case .refused(_, let reason) = pause { #expect(reason == "event o2 was here before") }
    }

    @Test func ordersWithoutAnIDAreNoDuplicates() {
        var orders = Self.orders()
        let answers = [orders.take(id: nil), orders.take(id: nil)]
        #expect(answers.map(Self.refusal) == [nil, nil])
    }

    @Test func theOldestIDsAreForgottenBeyondTheLimit() {
        var orders = Self.orders(ids: 2)
        for id in ["a", "b", "c"] { _ = orders.take(id: id) }
        let answers = [orders.take(id: "b"), orders.take(id: "c"), orders.take(id: "a")]
        #expect(answers.map(Self.refusal) == [.duplicate, .duplicate, nil])
    }

    @Test func ordersStandForAsManyKindsAsTheLimitAllowsAndForAllBesides() {
        var orders = Self.orders(kinds: 2)
        let taken = [orders.take(.mute, for: .football, id: nil), orders.take(.mute, for: .hockey, id: nil)]
        let surplus = [orders.take(.mute, for: .ride, id: nil), orders.take(.pause, for: .ride, id: nil)]
        let forAll = [orders.take(.mute, for: nil, id: nil), orders.take(.pause, for: nil, id: nil)]
        #expect(taken.map(Self.refusal) == [nil, nil] && forAll.map(Self.refusal) == [nil, nil])
        #expect(surplus.map(Self.refusal) == [.rejected, .rejected])
        let scopes = orders.scopes(of: .ride)
        #expect(scopes.muted == .all && scopes.paused == .all)
        if case .refused(_, let reason) = surplus[0] { #expect(reason == "orders stand for 2 kinds, and no more") }
    }

    @Test func anOrderIsLiftedEvenAtTheLimitAndMakesRoomForAnother() {
        var orders = Self.orders(kinds: 1)
        _ = orders.take(.mute, for: .football, id: nil)
        let refused = orders.take(.mute, for: .hockey, id: "o1")
        let lifted = [orders.take(.resume, for: .hockey, id: nil), orders.take(.unmute, for: .football, id: nil)]
        let again = orders.take(.mute, for: .hockey, id: "o1")
        #expect(Self.refusal(refused) == .rejected && lifted.map(Self.refusal) == [nil, nil])
        #expect(Self.refusal(again) == nil, "a refused order's id counts as not seen")
        let (football, hockey) = (orders.scopes(of: .football).muted, orders.scopes(of: .hockey).muted)
        #expect(football.isEmpty && hockey == .kind)
    }

    // MARK: Serial form

    /// Checkpoints of earlier releases contain it.
    @Test func serialFormOfStandingOrdersKeepsItsBytes() {
        var orders = Self.orders(ids: 4)
        _ = orders.take(.mute, for: nil, id: "o1")
        _ = orders.take(.pause, for: TopicKind("ride"), id: nil)
        let expected: [UInt8] = [1, 0, 0, 1, 4] + Array("ride".utf8) + [4, 1, 2] + Array("o1".utf8)
        #expect(Self.bytes(of: orders) == expected)
    }

    /// Nodes that were given the same orders write the same checkpoint.
    @Test func kindsAreWrittenInTheOrderOfTheirNames() throws {
        let names = (0..<40).map { "kind \($0)" }
        var orders = Self.orders()
        for name in names { _ = orders.take(.mute, for: TopicKind(name), id: nil) }
        var reader = SerialReader(Self.bytes(of: orders)[...])
        let isForAll = try reader.flag("scope")
        let written = try reader.all { (reader) throws(SerialError) in try reader.text() }
        #expect(!isForAll && written == names.sorted())
    }

    @Test func ordersAndIDsComeBackFromTheirSerialForm() throws {
        var orders = Self.orders()
        _ = orders.take(.mute, for: nil, id: "o1")
        _ = orders.take(.mute, for: .queue, id: "o2")
        _ = orders.take(.pause, for: .ride, id: "o3")
        let bytes = Self.bytes(of: orders)
        var others = Self.orders()
        _ = others.take(.pause, for: nil, id: nil)
        var reader = SerialReader(bytes[...])
        try others.restore(from: &reader)
        #expect(reader.isAtEnd && Self.bytes(of: others) == bytes)
        let (queue, ride) = (others.scopes(of: .queue), others.scopes(of: .ride))
        #expect(queue.muted == Self.kindAndAll && queue.paused.isEmpty, "orders of before are replaced")
        #expect(ride.muted == .all && ride.paused == .kind)
        let answers = ["o1", "o2", "o3", "o4"].map { others.take(id: $0) }
        #expect(answers.map(Self.refusal) == [.duplicate, .duplicate, .duplicate, nil])
    }

    @Test func restoredOrdersStandBeyondThePresentLimitsAndFurtherOnesDoNot() throws {
        var orders = Self.orders()
        for kind in [TopicKind.football, .hockey, .ride] { _ = orders.take(.mute, for: kind, id: kind.rawValue) }
        var few = Self.orders(kinds: 2, ids: 2)
        var reader = SerialReader(Self.bytes(of: orders)[...])
        try few.restore(from: &reader)
        let muted = [TopicKind.football, .hockey, .ride].map { few.scopes(of: $0).muted }
        #expect(muted == [.kind, .kind, .kind])
        let surplus = few.take(.mute, for: .queue, id: nil)
        #expect(Self.refusal(surplus) == .rejected)
        let answers = [few.take(id: "hockey"), few.take(id: "ride"), few.take(id: "football")]
        #expect(answers.map(Self.refusal) == [.duplicate, .duplicate, nil], "the oldest id had no room")
    }

    @Test func bytesThatEndTooEarlyAreRefused() {
        var orders = Self.orders()
        _ = orders.take(.mute, for: .football, id: "o1")
        _ = orders.take(.pause, for: nil, id: "o2")
        let bytes = Self.bytes(of: orders)
        for count in bytes.indices {
            var others = Self.orders()
            var reader = SerialReader(bytes[..<count])
            #expect(throws: SerialError.truncated, "\(count) bytes") { try others.restore(from: &reader) }
        }
    }

    @Test func bytesThatAreNoScopeOrNoTextAreRefused() {
        let malformed: [([UInt8], String)] = [
            ([2, 0, 0, 0, 4, 0], "scope"), ([0, 0, 7, 0, 4, 0], "scope"), ([0, 1, 1, 0xFF, 0, 0, 4, 0], "text"),
        ]
        for (bytes, part) in malformed {
            var orders = Self.orders()
            var reader = SerialReader(bytes[...])
            #expect(throws: SerialError.malformed(part)) { try orders.restore(from: &reader) }
        }
    }
}
