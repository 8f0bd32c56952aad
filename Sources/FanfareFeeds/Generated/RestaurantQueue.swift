import FanfareModel

/// A restaurant's queue, in which a table for one party, or a party that gives up, moves everybody behind it.
enum RestaurantQueue {
    /// Returns the entries of one evening's parties.
    static func entries(
        ofParties count: Int, from evening: FeedTime, _ random: inout SplitMix64
    ) -> [FeedEntry] {
        struct Party {
            var script: PatchScript
            var length = 0
        }
        var parties: [Party] = []
        var waiting: [Int] = []
        var joined = 0
        var now = evening
        // Minutes between two tables, as the host estimates waits.
        let pace: Int64 = 3
        func tell(_ party: inout Party, position: Int, at: FeedTime) {
            let share = Double(party.length - position) / Double(max(1, party.length))
            party.script.set(
                "position", at: at,
                [
                    "position": .int(Int64(position)), "progress": .double((share * 1000).rounded() / 1000),
                    "estimateMinutes": .int(Int64(position) * pace),
                ])
        }
        func tellAll(from first: Int, at: FeedTime) {
            for place in waiting.indices.dropFirst(first) {
                tell(&parties[waiting[place]], position: place + 1, at: at)
            }
        }
        while joined < count || !waiting.isEmpty {
            // Tells every party its position, changed or not, as the host's screen does.
            tellAll(from: 0, at: now)
            now = now + .milliseconds(random.number(in: 20_000...100_000))
            let draw = random.number(in: 0...99)
            if joined < count, draw < 62 || waiting.isEmpty {
                joined += 1
                let script = PatchScript(
                    topic: "queue/\(300 + joined)", kind: .queue, random: SplitMix64(seed: random.next()))
                waiting.append(parties.count)
                parties.append(Party(script: script, length: waiting.count))
                tell(&parties[parties.count - 1], position: waiting.count, at: now)
            } else if draw < 93 || waiting.count < 3 {
                let called = waiting.removeFirst()
                tell(&parties[called], position: 0, at: now)
                tellAll(from: 0, at: now)
            } else {
                let place = random.number(in: 1...waiting.count - 1)
                let gone = waiting.remove(at: place)
                parties[gone].script.end(at: now)
                tellAll(from: place, at: now)
            }
        }
        return parties.flatMap(\.script.entries)
    }
}
