import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct CardAgesTests {
    private static let date = FeedTime(seconds: 1_790_000_000)

    private func moment(_ wall: Int64, _ monotonic: Int64, _ trust: WallTrust) -> Moment {
        Moment(
            wallMilliseconds: (CardAgesTests.date.milliseconds / 1000 + wall) * 1000,
            monotonicNanoseconds: monotonic * 1_000_000_000, trust: trust)
    }

    private func seconds(_ ages: CardAges, _ start: CardStart, _ moment: Moment) -> Int64 {
        ages.age(of: start, at: moment) / 1_000_000_000
    }

    @Test func aDateIsReadWhenTheClockIsTrustedAndAgainWhenItIsProven() {
        var ages = CardAges()
        let first = ages.follow(moment(8 * 3600, 5, .awaitsProof))
        #expect(!first)
        let start = ages.start(CardAgesTests.date, at: moment(8 * 3600, 5, .awaitsProof))
        #expect(start.isDate && seconds(ages, start, moment(8 * 3600, 1000, .awaitsProof)) == 0)
        let again = ages.follow(moment(60, 1000, .awaitsProof))
        #expect(!again)
        let assumed = ages.follow(moment(7200, 3605, .assumed))
        #expect(assumed)
        #expect(seconds(ages, start, moment(0, 3615, .assumed)) == 7210)
        let proven = ages.follow(moment(60, 3620, .proven))
        #expect(proven)
        #expect(seconds(ages, start, moment(0, 3630, .proven)) == 70)
        let less = ages.follow(moment(9 * 3600, 3640, .awaitsProof))
        #expect(!less, "what is proven stays so")
        #expect(seconds(ages, start, moment(0, 3640, .awaitsProof)) == 80)
    }

    @Test func aDateReadByATrustedClockBecomesATimeThatNobodySets() {
        let ages = CardAges()
        let start = ages.start(CardAgesTests.date, at: moment(100, 5, .assumed))
        #expect(!start.isDate && seconds(ages, start, moment(-5000, 15, .assumed)) == 110)
        let unborn = ages.start(CardAgesTests.date, at: moment(-100, 5, .assumed))
        #expect(seconds(ages, unborn, moment(0, 15, .assumed)) == 10)
    }

    @Test(arguments: [Int64.min, -1, 0, 1, 1 << 31, 1 << 32, .max])
    func cardAgesTakeAnyTimeWithoutATrap(_ time: Int64) {
        let start = CardStart(monotonic: time)
        #expect(start.seconds(until: time) == 0)
        #expect(start.seconds(until: time &+ 8 * 3600) == 8 * 3600)
        #expect(start.seconds(until: time &- 1) == 0)
        var ages = CardAges()
        let reading = Moment(wallMilliseconds: time, monotonicNanoseconds: time, trust: .proven)
        _ = ages.follow(reading)
        #expect(ages.age(of: CardStart(date: FeedTime(milliseconds: time)), at: reading) >= 0)
        #expect(ages.age(of: ages.start(FeedTime(milliseconds: time), at: reading), at: reading) >= 0)
    }
}
