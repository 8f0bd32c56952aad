import FanfareModel
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

    @Test(arguments: 1...50 as ClosedRange<UInt64>) func theLastOfEqualKeysCountsInAnyOrder(seed: UInt64) {
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

    /// Each byte is one less for the state of everybody.
    @Test(arguments: [
        (0.1 + 0.2, "0.30000000000000004"), (3, "3"), (-0.0, "0"), (0.5, "0.5"), (1e-5, "1e-5"), (-1.5e-7, "-1.5e-7"),
        (1e-10, "1e-10"), (1e20, "1e20"), (1.25e300, "1.25e300"), (-1e-300, "-1e-300"),
        (811_692_800.277, "811692800.277"),
    ])
    func numbersHaveNoByteTooMany(number: Double, text: String) {
        var bytes: [UInt8] = []
        JSONValue.double(number).write(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
        #expect(Double(text) == number)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>) func shortNumbersAreTheSameNumbers(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<1000 {
            let number = Double(bitPattern: random.next())
            guard number.isFinite else { continue }
            var bytes: [UInt8] = []
            JSONValue.double(number).write(to: &bytes)
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(Double(text) == number && text.utf8.count <= "\(number)".utf8.count, "seed \(seed): \(number)")
        }
    }
}
