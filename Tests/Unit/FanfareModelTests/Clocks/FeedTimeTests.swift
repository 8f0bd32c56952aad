import FanfareModel
import Testing

@Suite struct FeedTimeTests {
    @Test func aFeedTimeReadsAndWritesRFC3339() throws {
        let time = try #require(FeedTime(rfc3339: "2022-10-15T14:04:53.524+02:00"))
        #expect(time.description == "2022-10-15T12:04:53.524Z")
        #expect(FeedTime(rfc3339: "2018-05-13T14:00:00Z")?.milliseconds == 1_526_220_000_000)
        #expect(FeedTime(rfc3339: "2018-05-13 14:00") == nil)
        #expect(FeedTime(rfc3339: "2018-13-13T14:00:00Z") == nil)
    }

    @Test(arguments: [Int64(0), 951_782_400_000, 1_709_164_800_000, 4_102_444_799_999])
    func feedTimesComeBackFromTheirText(milliseconds: Int64) {
        let time = FeedTime(milliseconds: milliseconds)
        #expect(FeedTime(rfc3339: time.description) == time)
    }

    /// Units mistaken for others make times that nobody lives to see; even so they can be told.
    @Test func theFirstAndTheLastFeedTimeHaveText() {
        #expect(FeedTime(milliseconds: .min).description == "-292275055-05-16T16:47:04.192Z")
        #expect(FeedTime(milliseconds: .max).description == "292278994-08-17T07:12:55.807Z")
        #expect(FeedTime(seconds: .max).milliseconds == .max)
        #expect(FeedTime(seconds: .min).milliseconds == .min)
    }

    /// A program may set any duration; a century and a half is as good as for ever.
    @Test func durationsBeyondAllMeasureAreLongAndNoTrap() {
        let ever = Duration.seconds(Int64.max)
        #expect(ever.milliseconds > 4_600_000_000_000 && (Duration.zero - ever).milliseconds < -4_600_000_000_000)
        #expect(!ever.milliseconds.multipliedReportingOverflow(by: 1_000_000).overflow)
        #expect(Duration.seconds(-1.5).milliseconds == -1500 && Duration.microseconds(1999).milliseconds == 1)
        #expect(FeedTime(milliseconds: .max - 5) + .seconds(1) == FeedTime(milliseconds: .max))
        #expect(FeedTime(milliseconds: .min + 5) + .seconds(-1) == FeedTime(milliseconds: .min))
        #expect(FeedTime(milliseconds: .max) - FeedTime(milliseconds: .min) > .zero)
        let all = FeedTime.plausible.upperBound - FeedTime.plausible.lowerBound
        #expect(all.milliseconds == FeedTime.plausible.upperBound.milliseconds, "no time that can be is cut short")
    }
}
