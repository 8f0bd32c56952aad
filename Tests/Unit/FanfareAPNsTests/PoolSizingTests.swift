import FanfareFanOut
import FanfareModel
import Testing

@testable import FanfareAPNs

/// Findings of a pool's reviews.
@Suite struct PoolSizingTests {
    private let start = MonotonicTime.after(.seconds(100))
    private var random = SplitMix64(seed: 1)

    private static func path(_ milliseconds: Int64, width: Int = 1000) -> ConnectionPath {
        ConnectionPath(roundTrip: .milliseconds(milliseconds), width: width, streams: 1000, requestSize: .bytes(430))
    }

    private static func sizing(most: Int = 64) -> PoolSizing {
        PoolSizing(PoolSize.Limits(most: most), ConnectionQuota(most: most).join())
    }

    private static func seen(
        _ path: ConnectionPath?, service: Duration? = nil, demand: Int = 0, work: PoolSizing.Work = PoolSizing.Work(),
        mayGrow: Bool = true
    ) -> PoolSizing.Observation {
        PoolSizing.Observation(
            path: path, service: service, demand: demand, work: work, mayGrow: mayGrow, areWide: true)
    }

    @Test func aReviewIsDueFourTimesASecondOrSoon() {
        let sizing = Self.sizing()
        var begun: [Bool] = []
        for milliseconds in [0, 249, 250] { begun.append(sizing.beginsReview(at: start + .milliseconds(milliseconds))) }
        #expect(begun == [true, false, true])
        sizing.reviewSoon()
        let soon = sizing.beginsReview(at: start + .milliseconds(251))
        #expect(soon)
    }

    @Test func aSmallPoolIsReadyAfterTenSeconds() {
        let sizing = Self.sizing()
        #expect(!sizing.isReady(at: start))
        _ = sizing.beginsReview(at: start)
        #expect(!sizing.isReady(at: start + .milliseconds(9999)) && sizing.isReady(at: start + .seconds(10)))
    }

    /// A full connection's width may be that of the moment.
    @Test mutating func thePathOfFullConnectionsIsNotPlannedWith() {
        let sizing = Self.sizing()
        #expect(sizing.measuresDistance)
        _ = sizing.review(Self.seen(Self.path(20)), at: start, using: &random)
        #expect(sizing.plannedPath == Self.path(20) && !sizing.hadRoom)
        let full = Self.path(30, width: 10)
        _ = sizing.review(Self.seen(full), at: start + .milliseconds(250), using: &random)
        #expect(sizing.plannedPath == Self.path(20) && !sizing.measuresDistance)
        sizing.noteRoom()
        _ = sizing.review(Self.seen(full), at: start + .milliseconds(500), using: &random)
        #expect(sizing.plannedPath == full)
    }

    @Test mutating func aServiceThatAnswersLateIsPlannedWith() {
        let sizing = Self.sizing()
        let late = Self.seen(Self.path(20), service: .milliseconds(50))
        _ = sizing.review(late, at: start, using: &random)
        #expect(sizing.plannedPath?.roundTrip == .milliseconds(50))
        #expect(sizing.figures.roundTrip == .milliseconds(50))
    }

    @Test(
        arguments: [
            (0, 100, 1000, true, .processor), (250, 100, 1000, true, .streams),
            (250, 100, 10, true, .window), (250, 100, 1000, false, .peer), (250, 89, 1000, true, .peer),
        ] as [(Int64, UInt64, Int, Bool, TransportFigures.Limit)])
    mutating func figuresSayWhatLimitsThePushes(
        idle: Int64, taken: UInt64, width: Int, mayGrow: Bool, limit: TransportFigures.Limit
    ) {
        let sizing = Self.sizing()
        let path = Self.path(20, width: width)
        _ = sizing.review(Self.seen(path), at: start, using: &random)
        #expect(sizing.figures.limit == .nothing)
        let work = PoolSizing.Work(idle: .milliseconds(idle), answered: 100, taken: taken)
        _ = sizing.review(
            Self.seen(path, work: work, mayGrow: mayGrow), at: start + .milliseconds(250), using: &random)
        #expect(sizing.figures.limit == limit)
        #expect(sizing.figures.limitTimes == [limit: .milliseconds(250)])
    }

    @Test mutating func aPoolGrowsToItsPartOfTheQuota() {
        let sizing = Self.sizing(most: 4)
        _ = sizing.review(Self.seen(Self.path(50), demand: 1_000_000), at: start, using: &random)
        #expect(sizing.count == sizing.least)
        #expect(sizing.isGrowing(at: start, mayGrow: true) && !sizing.isGrowing(at: start, mayGrow: false))
        let grown = [sizing.grow(upTo: 1, at: start), sizing.grow(upTo: 4, at: start)]
        #expect(grown == [1, 1] && sizing.count == 4 && !sizing.isGrowing(at: start, mayGrow: true))
        sizing.takeBack(2)
        #expect(sizing.count == 2 && sizing.violation() == nil)
    }

    @Test mutating func aRefusalPausesGrowth() {
        let sizing = Self.sizing()
        _ = sizing.review(Self.seen(Self.path(50), demand: 1_000_000), at: start, using: &random)
        _ = sizing.grow(upTo: 2, at: start)
        let given = sizing.giveUpOne()
        sizing.noteTaken(sizing.count)
        sizing.pauseGrowth(at: start, using: &random)
        #expect(given && sizing.count == 3 && !sizing.isGrowing(at: start, mayGrow: true))
        let grown = sizing.grow(upTo: 2, at: start)
        #expect(grown == 0)
    }
}
