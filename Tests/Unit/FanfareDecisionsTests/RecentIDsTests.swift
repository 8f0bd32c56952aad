import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct RecentIDsTests {
    /// An array searched from end to end is the model; capacities are small, so that places are freed and filled all the time.
    @Test(arguments: [1, 2, 3, 5, 8, 60])
    func recentIDsKnowTheNewestIDs(capacity: Int) {
        let seed = UInt64(capacity)
        var random = SplitMix64(seed: seed)
        var ids = RecentIDs(capacity: capacity)
        var newest: [String] = []
        for step in 0..<3000 {
            // Short and long ids, some of them repeated.
            let number = random.number(below: 3 * capacity)
            let id = number % 3 == 0 ? "an id of more than fifteen bytes, \(number)" : "e\(number)"
            #expect(ids.contains(id) == newest.contains(id), "seed \(seed), step \(step)")
            ids.insert(id)
            if !newest.contains(id) { newest.append(id) }
            if newest.count > capacity { newest.removeFirst() }
            #expect(ids.violation() == nil, "seed \(seed), step \(step)")
        }
    }
}
