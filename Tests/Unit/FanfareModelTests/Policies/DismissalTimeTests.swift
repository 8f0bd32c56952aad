import FanfareModel
import Testing

/// Rule L3.
@Suite struct L3DismissalTimeTests {
    private let now = FeedTime(seconds: 1_800_000_000)
    private let moment = Moment(wallMilliseconds: 1_800_000_000_999, monotonicNanoseconds: 0)

    @Test(arguments: [(600, 600), (0, 0), (-5, 0), (4 * 3600 + 1, 4 * 3600)] as [(Int64, Int64)])
    func aCardStaysUntilItsDateOrForFourHours(in seconds: Int64, stays: Int64) {
        let time = DismissalTime.at(now + .seconds(seconds))
        #expect(time.duration(from: now) == .seconds(stays))
        #expect(time.seconds(ofEndAt: moment) == moment.wallSeconds + stays)
    }

    @Test func aDurationCountsFromTheEnd() {
        let time = DismissalTime.after(.milliseconds(900_999))
        #expect(time.duration(from: now) == .milliseconds(900_999))
        #expect(time.seconds(ofEndAt: moment) == moment.wallSeconds + 900)
    }

    @Test(arguments: [(0, 900), (-60, 900), (60, 840), (900, 0), (86_400, 0)] as [(Int64, Int64)])
    func whatIsLeftOfADurationIsNeitherNegativeNorMoreThanAtFirst(passed: Int64, left: Int64) {
        #expect(DismissalTime.after(.seconds(900)).left(after: .seconds(passed)) == .after(.seconds(left)))
        #expect(DismissalTime.at(now).left(after: .seconds(passed)) == .at(now))
    }

    @Test(
        arguments: [
            .after(.zero), .after(.seconds(4 * 3600)), .at(FeedTime(milliseconds: 0)),
            .at(FeedTime(milliseconds: 1_800_000_000_001)),
        ] as [DismissalTime])
    func aNumberStandsForOneTime(time: DismissalTime) {
        #expect(DismissalTime(number: time.number) == time)
    }

    /// Numbers are stored, so those of durations stay what they are.
    @Test func theNumberOfADurationIsItsMilliseconds() {
        #expect(DismissalTime.after(.seconds(900)).number == 900_000)
    }

    @Test(arguments: [(Int64.min, 0), (-1, 0), (Int64.max, 4_102_444_800_000)] as [(Int64, Int64)])
    func aDateThatNoFeedMayNameBecomesTheNearest(milliseconds: Int64, nearest: Int64) {
        let time = DismissalTime.at(FeedTime(milliseconds: milliseconds))
        #expect(DismissalTime(number: time.number) == .at(FeedTime(milliseconds: nearest)))
    }
}
