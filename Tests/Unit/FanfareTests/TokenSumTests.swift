import Fanfare
import FanfareFanOut
import FanfareModel
import Testing

@Suite struct TokenSumTests {
    /// The largest byte values, in lengths around those of the parts in which the sum is computed.
    @Test(arguments: [0, 1, 80, 255, 256, 257, 512, 1000]) func tokenSumOfABatchIsThatOfEachByte(count: Int) {
        let payload = Payload(
            event: .update, logLabel: "match/1", state: [], stamp: 0, staleDate: nil, dismissalDate: nil, alert: nil,
            priority: .immediate)
        for byte in [UInt8.max, 1] {
            var batch = DeliveryBatch()
            for _ in 0..<count {
                batch.append(slot: ActivitySlot(0), generation: 0, payload: payload, token: CollectionOfOne(byte))
            }
            #expect(batch.tokenSum == UInt64(count) * UInt64(byte))
        }
    }
}
