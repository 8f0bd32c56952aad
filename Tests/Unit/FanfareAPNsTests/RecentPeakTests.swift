import Testing

@testable import FanfareAPNs

@Suite struct RecentPeakTests {
    @Test func aPeakIsRememberedForOneToTwoPeriods() {
        var peak = RecentPeak<Int>(memory: 100)
        #expect(peak.value == 0)
        peak.note(9, at: 50)
        for now in Int64(51)..<250 {
            peak.note(3, at: now)
            #expect(peak.value == 9, "\(now)")
        }
        peak.note(3, at: 250)
        #expect(peak.value == 3)
    }

    @Test func whatWasBeforeALongSilenceIsForgotten() {
        var peak = RecentPeak<Double>(memory: 100)
        peak.note(9, at: 0)
        peak.note(1, at: 199)
        #expect(peak.value == 9)
        peak.note(2, at: 400)
        #expect(peak.value == 2)
    }
}
