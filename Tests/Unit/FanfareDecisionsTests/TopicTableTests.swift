import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct TopicTableTests {
    private static let rules = KindRules(.generic, Rules.Limits())

    private func topic(_ id: String, in table: TopicTable) -> Topic {
        Topic(TopicID(id), birth: table.nextBirth, kind: nil, rules: Self.rules)
    }

    /// A dictionary is the model: each live topic is found in its place, and no other one.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func livingTopicIsFound(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var table = TopicTable()
        var places: [String: (place: Int, birth: UInt64)] = [:]
        for _ in 0..<3000 {
            let id = "t/\(random.next() % 300)"
            let place = table.place(of: TopicID(id))
            #expect(place == places[id]?.place, "seed \(seed)")
            if let place, random.next() % 2 == 0 {
                table.remove(place)
                places[id] = nil
                #expect(table.place(of: TopicID(id)) == nil, "seed \(seed)")
            } else if place == nil {
                let birth = table.nextBirth
                places[id] = (table.insert(topic(id, in: table)), birth)
            }
            #expect(table.count == places.count)
        }
        #expect(Set(places.values.map(\.place)).count == places.count && table.living.count == places.count)
        for (id, known) in places {
            #expect(table[known.place].id.rawValue == id)
            #expect(table.isAlive(known.birth, at: known.place))
        }
        let births = table.inBirthOrder.map(\.birth)
        #expect(births == places.values.map(\.birth).sorted())
    }

    @Test func placesAreUsedAgainAndBirthsAreNot() {
        var table = TopicTable()
        for round in 0..<1000 {
            let place = table.insert(topic("t/\(round)", in: table))
            #expect(place == 0)
            #expect(table[place].birth == UInt64(round + 1))
            table.remove(place)
            #expect(!table.isAlive(UInt64(round + 1), at: place))
        }
    }
}
