import FanfareFanOut
import FanfareModel
import Testing

@testable import fanfare_season

/// The parts of a season, each of which judges or counts one thing.
@Suite struct SeasonPartsTests {
    private static let noon = SeasonTime(day: 0, hour: 12)

    @Test func aPublicationIsCompleteOnce() {
        var open = OpenPublications()
        open.published(1)
        open.published(2)
        let right = open.completed(1)
        #expect(right == nil)
        #expect(open.violation() == "1 publications were never complete, 2 the first of them")
        let again = open.completed(1)
        #expect(again == "publication 1 was reported complete twice")
        _ = open.completed(2)
        #expect(open.violation() == nil)
    }

    @Test func aDeathIsReportedOnce() {
        var judge = TokenDeathJudge()
        judge.answeredDead(ActivityID(UInt64(1)))
        #expect(judge.violation() == "1 dead tokens were not reported")
        let (first, second) = (judge.heard(of: ActivityID(UInt64(1))), judge.heard(of: ActivityID(UInt64(1))))
        #expect(first == nil && second != nil && judge.violation() == nil)
    }

    @Test func aTokenIsReportedWhenItIsDue() {
        var reports = TokenReports()
        reports.add(7, at: Self.noon)
        let early = reports.takeDue(at: Self.noon + .seconds(-1))
        #expect(early == nil && reports.next == Self.noon)
        let due = reports.takeDue(at: Self.noon)
        #expect(due == 7 && reports.next == nil)
    }

    @Test func aFailingServiceIsTriedWithOnePushAtATime() {
        var exchange = PushExchange()
        let (well, none) = (exchange.room(at: .well, Self.noon), exchange.room(at: .unreachable, Self.noon))
        let (first, next) = (exchange.room(at: .down, Self.noon), exchange.room(at: .down, Self.noon))
        let later = exchange.room(at: .down, Self.noon + .seconds(1))
        #expect(well == 1024 && none == 0 && first == 1 && next == 0 && later == 1)
    }

    @Test func aClockNeverStandsStill() {
        var clock = SeasonClock(at: Self.noon)
        clock.pass(to: Self.noon)
        #expect(clock.now == Self.noon + .milliseconds(1))
        #expect(clock.moment.wallMilliseconds == clock.now.unixMilliseconds)
        clock.pass(to: Self.noon + .seconds(5))
        #expect(clock.now == Self.noon + .seconds(5))
    }

    @Test func tablesThatGrowAfterTheThirdDayAreFound() {
        func growth(last topics: Int) -> String? {
            var mornings = Mornings(before: 0)
            for day in 0..<4 {
                mornings.note(Morning(tables: Tables(topics: day == 3 ? topics : 1), bytes: 0, store: nil))
            }
            return mornings.growth(hasLargeColumns: false)
        }
        #expect(growth(last: 1) == nil)
        #expect(growth(last: 2)?.hasPrefix("the tables have grown") == true)
    }

    @Test func aHeapGrowsIfItExceedsWhatTablesMayTake() {
        func growth(by bytes: Int, hasLargeColumns: Bool) -> String? {
            var mornings = Mornings(before: 0)
            for day in 0..<4 {
                mornings.note(Morning(tables: Tables(), bytes: day == 3 ? bytes : 0, store: nil))
            }
            return mornings.growth(hasLargeColumns: hasLargeColumns)
        }
        #expect(growth(by: 128 << 10, hasLargeColumns: false) == nil)
        #expect(growth(by: 1 << 20, hasLargeColumns: false)?.hasPrefix("the heap has grown") == true)
        #expect(growth(by: 1 << 20, hasLargeColumns: true) == nil)
    }
}
