import Fanfare
import FanfareFanOut
import FanfareModel

/// Subscribers for load tests, generated from a seed: subscriber *i* has one activity, which follows topic *i* mod T or a lineup of that
/// topic and others. The others are drawn by Zipf's law: the second topic is half as popular as the first, the third a third.
struct SyntheticSubscribers: InitialActivities {
    let count: Int
    /// Number of topics in a lineup; `nil` if each activity follows one topic.
    let lineups: ClosedRange<Int>?
    /// The first topic of each lineup is its favourite.
    let hasFavourites: Bool
    let seed: UInt64
    let topics: [TopicID]
    /// Cumulative weights 1, 1 + 1/2, 1 + 1/2 + 1/3, …, one for each topic.
    private let weightsUpTo: [Double]

    init(count: Int, lineups: ClosedRange<Int>?, hasFavourites: Bool = false, seed: UInt64, topics: [TopicID]) {
        self.count = count
        self.lineups = lineups
        self.hasFavourites = hasFavourites
        self.seed = seed
        self.topics = topics
        var sum = 0.0
        weightsUpTo = topics.indices.map { rank in
            sum += 1 / Double(rank + 1)
            return sum
        }
    }

    /// - Parameter topics: the feed's topics, in order of appearance.
    init(_ options: ReplayOptions.Subscribers, topics: [TopicID]) {
        self.init(
            count: options.count, lineups: options.lineups, hasFavourites: options.hasFavourites, seed: options.seed,
            topics: topics)
    }

    /// Distinct selections of companions per first topic. Real selections repeat, and activities with equal selections share an audience.
    private static let companionSelections = 1000

    func room(at place: ShardPlace) -> Int {
        place.app == 0 && !topics.isEmpty ? count / place.count + count / (place.count * 16) + 16 : 0
    }

    /// Passes on the subscribers of a shard: those of the first app.
    func read(at place: ShardPlace, _ take: (ShardCommand) -> Void) {
        guard place.app == 0, !topics.isEmpty else { return }
        for subscriber in 0..<count {
            let key = subscriberKey(subscriber)
            guard place.owns(subscriber: key) else { continue }
            take(.follow(ActivityID(key), audience(of: subscriber), token: token(of: key)))
        }
    }

    /// Adds an activity for the new topic of a live feed to every subscriber.
    func follow(_ topic: TopicID, send: (_ subscriber: UInt64, ShardCommand) -> Void) {
        for subscriber in 0..<count {
            let key = subscriberKey(subscriber) ^ topic.rawValue.utf8.fnv1a
            send(key, .follow(ActivityID(key), .topic(topic), token: token(of: key)))
        }
    }

    private func subscriberKey(_ subscriber: Int) -> UInt64 { (seed &* 0x1_0000_0001 &+ UInt64(subscriber)).mixed }

    func audience(of subscriber: Int) -> AudienceKey {
        let first = subscriber % topics.count
        guard let lineups else { return .topic(topics[first]) }
        let selection = UInt64(subscriber / topics.count % SyntheticSubscribers.companionSelections)
        var random = SplitMix64(seed: seed ^ (UInt64(first) << 32 | selection).mixed)
        var chosen = [first]
        var misses = 0
        let size = Int.random(in: lineups, using: &random)
        while chosen.count < min(size, topics.count) {
            let next = popular(using: &random)
            if !chosen.contains(next) {
                chosen.append(next)
            } else if misses < 64 {
                misses += 1
            } else if let rest = topics.indices.first(where: { !chosen.contains($0) }) {
                // Nearly all popular topics are chosen; the rest are taken by rank, so that the loop ends.
                chosen.append(rest)
            }
        }
        return .lineup(chosen.map { topics[$0] }, favourite: hasFavourites ? topics[first] : nil)
    }

    /// Draws a topic with a weight of one divided by its rank.
    private func popular(using random: inout SplitMix64) -> Int {
        let drawn = Double.random(in: 0..<(weightsUpTo.last ?? 1), using: &random)
        var low = 0
        var high = topics.count - 1
        while low < high {
            let middle = (low + high) / 2
            if weightsUpTo[middle] > drawn { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Makes a token: nine of ten have 80 bytes, the others 54, because both lengths have been seen (spec §1).
    private func token(of key: UInt64) -> [UInt8] {
        var random = SplitMix64(seed: key)
        let count = random.next() % 10 == 0 ? 54 : 80
        return unsafe [UInt8](unsafeUninitializedCapacity: 80) { bytes, filled in
            for start in stride(from: 0, to: 80, by: 8) {
                unsafe withUnsafeBytes(of: random.next()) { word in
                    for offset in 0..<8 { unsafe bytes[start + offset] = unsafe word[offset] }
                }
            }
            filled = count
        }
    }
}
