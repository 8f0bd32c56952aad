import Testing

@testable import FanfareFanOut

@Suite struct ShardCountsTests {
    /// Counts of which each is another multiple of a factor.
    private static func counts(_ factor: Int) -> ShardCounts {
        func times(_ number: Int) -> Int { number * factor }
        let pushes = PushCounts(
            sent: times(1), accepted: times(2), dead: times(3), held: times(4), throttled: times(5), refused: times(6),
            uncertain: times(7), notProcessed: times(8), downgradedToLowPriority: times(9))
        let alerts = AlertCounts(
            accepted: times(10), superseded: times(11), revoked: times(12), stale: times(13), uncertain: times(14),
            refused: times(15), silenced: times(16), limited: times(17), unclaimed: times(18))
        return ShardCounts(
            pushes: pushes, alerts: alerts, activities: times(19),
            lineups: LineupCounts(activities: times(20), distinct: times(21)), tokenless: times(22),
            owed: times(23), refusedStates: times(24), transport: transport(times(25)))
    }

    private static func transport(_ number: Int) -> TransportFigures {
        TransportFigures(
            connections: number, connectionsWanted: 2 * number, connectionsOpened: 3 * number, roundTrip: nil,
            inFlight: 4 * number, limit: .nothing,
            limitTimes: [.streams: .seconds(5 * number), .window: .seconds(6 * number), .peer: .seconds(7 * number)])
    }

    @Test func aSumAddsEachCountToItsOwn() {
        #expect(Self.counts(2) + Self.counts(5) == Self.counts(7))
    }

    @Test func countsOfZeroChangeNoSum() {
        #expect(Self.counts(3) + ShardCounts() == Self.counts(3))
        #expect(ShardCounts() + Self.counts(3) == Self.counts(3))
    }

    @Test func severalTransportsHaveTheWorstLimitAndTheLongestRoundTrip() {
        var (first, second) = (Self.transport(1), Self.transport(2))
        (first.limit, first.roundTrip) = (.window, .milliseconds(7))
        (second.limit, second.roundTrip) = (.streams, .milliseconds(9))
        var expected = Self.transport(3)
        (expected.limit, expected.roundTrip) = (.window, .milliseconds(9))
        #expect(first + second == expected && second + first == expected)
    }

    @Test func aTransportThatHasNotMeasuredLeavesTheRoundTripOfAnother() {
        var measured = TransportFigures()
        measured.roundTrip = .milliseconds(7)
        let unmeasured = TransportFigures()
        #expect((measured + unmeasured).roundTrip == .milliseconds(7))
        #expect((unmeasured + measured).roundTrip == .milliseconds(7))
        #expect((unmeasured + unmeasured).roundTrip == nil)
    }

    @Test func everyOutcomeOfAPushHasItsCount() {
        let outcomes: [CountedOutcome] = [
            .accepted, .dead, .held, .throttled, .refused, .uncertain, .notProcessed,
        ]
        var pushes = PushCounts()
        for (number, outcome) in outcomes.enumerated() { for _ in 0...number { pushes.add(outcome) } }
        let expected = PushCounts(
            sent: 0, accepted: 1, dead: 2, held: 3, throttled: 4, refused: 5, uncertain: 6, notProcessed: 7,
            downgradedToLowPriority: 0)
        #expect(pushes == expected)
    }
}
