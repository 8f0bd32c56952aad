import FanfareFanOut
import FanfareModel
import FanfareQueues
import FanfareTestSupport
import Testing

/// The freshness that a shard reports, on a clock that the test sets.
@Suite struct FreshnessTests {
    private let stage = EmbeddedShard(at: FreshnessTests.moment(0))
    private var shard: Shard { stage.shard }
    private let topic = TopicID("match/1")

    private static func moment(_ milliseconds: Int64) -> Moment {
        Moment(
            wallMilliseconds: 1_800_000_000_000 + milliseconds,
            monotonicNanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
    }

    private func setClock(_ milliseconds: Int64) { stage.moment = Self.moment(milliseconds) }

    private func follow(_ id: UInt64, _ audience: AudienceKey? = nil, at milliseconds: Int64) {
        setClock(milliseconds)
        stage.apply(.follow(ActivityID(id), audience ?? .topic(topic), token: [1, 2, 3]))
    }

    private func publish(_ version: UInt32, kind: TopicKind = .football, at milliseconds: Int64) {
        setClock(milliseconds)
        stage.publish(Publication.test(UInt64(version), of: topic, kind: kind))
    }

    private func pull(limit: Int = 100, at milliseconds: Int64) -> [EmbeddedShard.Push] {
        setClock(milliseconds)
        return stage.pull(limit: limit)
    }

    private func answer(
        _ pushes: [EmbeddedShard.Push], _ outcome: DeliveryOutcome = .accepted, at milliseconds: Int64
    ) {
        setClock(milliseconds)
        stage.answer(pushes, outcome)
    }

    private func report(at milliseconds: Int64) -> FreshnessReport {
        shard.freshnessReport(at: Self.moment(milliseconds))
    }

    @Test func aSweepIsTimedFromThePublicationOn() throws {
        for id in UInt64(1)...3 { follow(id, at: 0) }
        publish(1, at: 10)
        let first = pull(limit: 1, at: 15)
        let rest = pull(at: 30)
        answer(first, at: 31)
        #expect(report(at: 40).oldestUndelivered == .milliseconds(30))
        answer(rest, at: 52)
        #expect(report(at: 60).oldestUndelivered == .zero)
        let figures = try #require(report(at: 60).kinds[.football])
        #expect(figures.stateAge.count == 3)
        #expect(figures.stateAge.max == .milliseconds(20))
        let earliest = try #require(figures.stateAge.quantile(0.01))
        #expect(earliest >= .microseconds(5000) && earliest <= .microseconds(5160))
        #expect(figures.sweep.count == 1)
        #expect(figures.sweep.max == .milliseconds(42))
        // The one first push was in the lane of priority 10.
        #expect(figures.laneDelay.map(\.count) == [0, 1, 0])
        #expect(figures.laneDelay[1].max == .milliseconds(5))
    }

    /// A member that joined after the publication has not waited for the state.
    @Test func joinersDoNotAgeTheState() throws {
        publish(1, at: 0)
        follow(1, at: 1000)
        answer(pull(at: 2000), at: 2001)
        #expect(shard.isQuiet)
        let figures = try #require(report(at: 2002).kinds[.football])
        #expect(figures.stateAge.count == 0)
        #expect(figures.sweep.count == 0)
        #expect(figures.laneDelay.allSatisfy { $0.count == 0 })
    }

    /// A newer version is published before the first push: the state has that version's age, and the audience has waited since the first.
    @Test func newerStatesAreYoung() throws {
        follow(1, at: 0)
        publish(1, at: 10)
        publish(2, at: 25)
        answer(pull(at: 30), at: 31)
        let figures = try #require(report(at: 32).kinds[.football])
        #expect(figures.stateAge.max == .milliseconds(5))
        #expect(figures.laneDelay[1].max == .milliseconds(20))
        #expect(figures.sweep.count == 2)
        #expect(figures.sweep.max == .milliseconds(21))
    }

    @Test func lineupsCountAsOneKind() throws {
        follow(1, .lineup([topic, TopicID("match/2")]), at: 0)
        publish(1, at: 10)
        answer(pull(at: 12), at: 13)
        let kinds = report(at: 14).kinds
        #expect(kinds[.lineup]?.stateAge.count == 1)
        #expect(kinds[.football]?.stateAge.count == 0)
    }

    /// A feed may make up kinds without end; the figures do not grow with it.
    @Test func kindsAreBounded() {
        for version in UInt32(1)...100 { publish(version, kind: TopicKind("kind \(version)"), at: 0) }
        #expect(report(at: 1).kinds.count == 17)
        #expect(report(at: 1).kinds[.other] != nil)
    }

    /// One token always fails, and one phone's state is refused: the time of the last accepted push is that of the other phones.
    @Test func theLastAcceptedPushIsKnownWhateverOthersLack() {
        for id in UInt64(1)...3 { follow(id, at: 0) }
        publish(1, at: 10)
        #expect(report(at: 10).lastAccepted == nil)
        let flying = pull(at: 15)
        answer([flying[0]], .refused, at: 20)
        #expect(report(at: 21).lastAccepted == nil)
        answer([flying[1]], at: 30)
        answer([flying[2]], .throttled, at: 40)
        #expect(report(at: 50).lastAccepted == Self.moment(30).monotonic)
        #expect((report(at: 50) + FreshnessReport()).lastAccepted == Self.moment(30).monotonic)
    }

    @Test func reportsOfShardsAddUp() {
        follow(1, at: 0)
        publish(1, at: 10)
        _ = pull(at: 12)
        let one = report(at: 20)
        let both = one + one
        #expect(both.kinds[.football]?.stateAge.count == 2)
        #expect(both.oldestUndelivered == one.oldestUndelivered)
    }
}
