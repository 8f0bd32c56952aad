import FanfareCore
import Testing

@Suite struct JSONObjectTests {
    /// One by one in their places, so many would take minutes.
    @Test(.timeLimit(.minutes(1))) func manyMembersInFallingOrderArePutInOrderAtOnce() {
        let keys = (0..<200_000).map { String(900_000 - $0) }
        let object = JSONObject(unordered: keys.map { ($0, .string($0)) })
        #expect(object.members.count == keys.count)
        #expect(object.members.first?.key == keys.last && object.members.last?.key == keys.first)
        #expect(zip(object.members, object.members.dropFirst()).allSatisfy { $0.key < $1.key })
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>) func whateverTheOrderTheLastOfEqualKeysCounts(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var members: [(key: String, value: JSONValue)] = []
        var one = JSONObject()
        for number in 0..<Int64(random.next() % 40) {
            let key = "k\(random.next() % 20)"
            members.append((key, .int(number)))
            one[key] = .int(number)
        }
        #expect(JSONObject(unordered: members) == one, "seed \(seed)")
    }
}
