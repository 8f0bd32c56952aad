import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct StampedPayloadsTests {
    private let second: Int64 = 1_790_000_000
    private var payloads = StampedPayloads()

    private func moment(_ seconds: Int64) -> Moment {
        Moment(wallMilliseconds: (second + seconds) * 1000, monotonicNanoseconds: 1 + seconds * 1_000_000_000)
    }

    private func payload(_ stamp: Int64?) -> Payload {
        Payload(
            event: .update, logLabel: "match", state: [], stamp: stamp ?? 0, staleDate: nil, dismissalDate: nil,
            alert: nil,
            priority: .immediate)
    }

    private func variant(alert: UInt32? = nil, additional: [UInt32] = []) -> StampedPayloads.Variant {
        StampedPayloads.Variant(alert: alert, additional: additional, priority: .immediate)
    }

    @Test mutating func versionsShareASecondUntilSomebodyHasHadIt() {
        let stamps = [
            payloads.stamp(1, after: 0, at: moment(0)), payloads.stamp(2, after: 0, at: moment(0)),
            payloads.stamp(2, after: second, at: moment(0)), payloads.stamp(2, after: 0, at: moment(0)),
        ]
        #expect(stamps == [second, second, second + 1, second + 1])
    }

    @Test mutating func sameVersionIsStampedAfreshWhenItsPayloadIsOld() {
        let stamps = [
            payloads.stamp(1, after: 0, at: moment(0)),
            payloads.stamp(1, after: 0, at: moment(StampedPayloads.refreshSeconds - 1)),
            payloads.stamp(1, after: 0, at: moment(StampedPayloads.refreshSeconds)),
        ]
        #expect(stamps == [second, second, second + StampedPayloads.refreshSeconds])
    }

    @Test mutating func stampBeyondWhatDevicesTakeHasToWait() {
        let stamp = payloads.stamp(1, after: second + Stamp.aheadMax, at: moment(0))
        #expect(stamp == nil)
    }

    @Test mutating func payloadsAreOfOneStamp() {
        payloads.keep(payload(payloads.stamp(1, after: 0, at: moment(0))), as: variant())
        #expect(payloads[variant()]?.stamp == second && payloads[variant(alert: 1)] == nil)
        _ = payloads.stamp(1, after: 0, at: moment(1))
        #expect(payloads[variant()] != nil)
        _ = payloads.stamp(2, after: 0, at: moment(1))
        #expect(payloads[variant()] == nil)
    }

    @Test mutating func payloadsWithARevokedAlertAreDropped() {
        let variants = [variant(), variant(alert: 1), variant(alert: 2, additional: [1]), variant(alert: 2)]
        for variant in variants { payloads.keep(payload(second), as: variant) }
        payloads.drop(alert: 1)
        #expect(variants.map { payloads[$0] != nil } == [true, false, false, true])
    }
}
