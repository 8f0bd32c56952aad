import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct RecentPeakTests {
    @Test func aPeakIsRememberedForOneToTwoPeriods() {
        var peak = RecentPeak<Int>(memory: .seconds(100))
        #expect(peak.value == 0)
        peak.note(9, at: .after(.seconds(50)))
        for now in Int64(51)..<250 {
            peak.note(3, at: .after(.seconds(now)))
            #expect(peak.value == 9, "\(now)")
        }
        peak.note(3, at: .after(.seconds(250)))
        #expect(peak.value == 3)
    }

    @Test func aPeakFromBeforeALongSilenceIsForgotten() {
        var peak = RecentPeak<Double>(memory: .seconds(100))
        peak.note(9, at: .after(.zero))
        peak.note(1, at: .after(.seconds(199)))
        #expect(peak.value == 9)
        peak.note(2, at: .after(.seconds(400)))
        #expect(peak.value == 2)
    }
}
