import FanfareModel
import Testing

@Suite struct QuietHoursTests {
    @Test(arguments: [-720, -300, 0, 60, 330, 840]) func limitsThatAreReadAndGivenAtOneOffsetMakeTheSameWindow(
        offset: Int
    ) throws {
        for (from, until) in [(1320, 420), (0, 1439), (1439, 0), (540, 541)] {
            let hours = try #require(
                Preferences.QuietHours(from: from, until: until, utcOffset: offset, breakthrough: .all))
            let local = hours.local(utcOffset: offset)
            #expect(local.from == from && local.until == until)
            let again = Preferences.QuietHours(
                from: local.from, until: local.until, utcOffset: offset, breakthrough: hours.breakthrough)
            #expect(again == hours)
            #expect(Preferences(quietHours: hours).quietHours == hours)
        }
    }

    @Test func aWindowIsAtOtherMinutesOnAnotherClock() throws {
        let east = try #require(Preferences.QuietHours(from: 0, until: 60, utcOffset: 840)).local(utcOffset: 0)
        #expect(east.from == 600 && east.until == 660)
        let west = try #require(Preferences.QuietHours(from: 1400, until: 60, utcOffset: -720)).local(utcOffset: 0)
        #expect(west.from == 680 && west.until == 780)
    }

    @Test func noWindowIsEmptyOrOutsideTheDay() {
        for (from, until, offset) in [(-1, 0, 0), (0, 1440, 0), (5, 5, 0), (0, 1, 841), (0, 1, -721)] {
            #expect(Preferences.QuietHours(from: from, until: until, utcOffset: offset) == nil)
        }
    }
}
