import FanfareFanOut
import FanfareModel
import Testing

@Suite struct DeliveryBatchTests {
    /// A source that makes each payload anew does not fill a batch with them.
    @Test func aBatchKeepsSoManyPayloadsAndNoMore() {
        struct Kept { weak var payload: Payload? }
        var batch = DeliveryBatch()
        var all: [Kept] = []
        for round in 0..<3 {
            for number in 0..<1000 {
                let payload = Payload(
                    event: .end, logLabel: "\(round)/\(number)", state: [], stamp: 0, staleDate: nil,
                    dismissalDate: nil,
                    alert: nil, priority: .immediate)
                all.append(Kept(payload: payload))
                batch.append(slot: ActivitySlot(0), generation: 0, payload: payload, token: CollectionOfOne(1))
            }
            batch.removeAll()
        }
        #expect(all.count { $0.payload != nil } == 1024)
    }
}
