import ReferenceModel
import Testing

/// The decision core against a model that counts everything anew. A failure prints its seed and the smallest feed that
/// still fails; `fanfare-model 1 SEED` plays the same.
@Suite struct ReferenceModelTests {
    /// 10,000 feeds, in as many pieces as there may be cores.
    @Test(arguments: 0..<4) func coreAndReferenceModelAgreeOnGameFeeds(piece: Int) {
        let first = UInt64(piece) * 2500 + 1
        let fault = Judgement.firstFault(seeds: first..<first + 2500)
        #expect(fault == nil)
    }

    /// A feed that shows everything, so that agreement means something.
    @Test func gameFeedsHaveAlertsEndsAndForgottenTopics() {
        var versions = 0
        var alerts = 0
        var ends = 0
        var most = 0
        var forgotten = 0
        var begunAgain = 0
        for seed in UInt64(1)...500 {
            let model = ReferenceModel(GameFeed(seed: seed))
            versions += model.versions.count
            most = max(most, model.versions.count)
            alerts += model.versions.count { $0.alert != nil }
            forgotten += model.forgotten.count
            begunAgain += zip(model.versions, model.versions.dropFirst()).count { $0.ends && !$1.ends }
            ends += model.versions.last?.ends == true ? 1 : 0
        }
        #expect(versions > 1500 && most >= 9)
        #expect(alerts > 400)
        #expect(ends > 50)
        #expect(forgotten > 50 && begunAgain > 20)
    }
}
