package import Fanfare
package import FanfareFanOut
package import FanfareModel
import Glibc

/// A scenario's subscribers, computed from the seed: no list of them is kept. Each has one activity.
package struct Population: Sendable {
    /// Subscribers that are loaded before the run; those with higher numbers follow while it runs.
    package let initial: Int
    private let options: Scenario.Subscribers
    private let seed: UInt64
    /// Number of the engine's part, and of the parts, which share the subscribers as if they were dealt out.
    private let (part, parts): (Int, Int)
    private let topics: [TopicID]
    /// Cumulative shares of the topics; empty if all are equally popular.
    private let sharesUpTo: [Double]

    package init(_ scenario: Scenario, topics: [TopicID]) {
        options = scenario.subscribers
        initial = scenario.subscribers.count
        seed = scenario.seed ^ UInt64(scenario.part ?? 0).mixed
        (part, parts) = (scenario.part ?? 0, scenario.part == nil ? 1 : scenario.engines)
        self.topics = topics
        sharesUpTo = options.zipf > 0 ? Population.zipf(topics.count, exponent: options.zipf) : []
    }

    private static func zipf(_ count: Int, exponent: Double) -> [Double] {
        var sum = 0.0
        let weights = (0..<count).map { rank in
            sum += pow(Double(rank + 1), -exponent)
            return sum
        }
        return weights.map { $0 / sum }
    }

    /// Most topics that a subscriber follows.
    package var topicsMax: Int { options.lineups?.upperBound ?? 1 }

    package func key(of subscriber: Int) -> UInt64 { (seed &* 0x1_0000_0001 &+ UInt64(subscriber)).mixed }

    package func follow(_ subscriber: Int) -> ShardCommand {
        let key = key(of: subscriber)
        var random = SplitMix64(seed: key)
        let preferences = preferences(of: key, isSilenced: random.chance(options.silencedShare))
        return .follow(
            ActivityID(key), audience(of: subscriber, &random), token: token(of: subscriber), preferences: preferences)
    }

    private static let quietMinutes = 8 * 60
    private static let minutesPerDay = 24 * 60

    /// - Returns: `nil` for those of somebody who has chosen nothing.
    private func preferences(of key: UInt64, isSilenced: Bool) -> Preferences? {
        var random = SplitMix64(seed: key ^ 0x7072_6566)
        let isStrict = random.chance(options.essentialShare)
        let isQuiet = random.chance(options.quietShare)
        let begin = number(below: Population.minutesPerDay, &random)
        let preferences = Preferences(
            alerts: isSilenced ? .none : isStrict ? .essential : .all,
            quietHours: isQuiet
                ? .init(from: begin, until: (begin + Population.quietMinutes) % Population.minutesPerDay, utcOffset: 0)
                : nil,
            frequentUpdates: random.chance(options.frequentShare))
        return preferences == Preferences() ? nil : preferences
    }

    /// - Parameter planned: moment in the schedule, which makes each of a subscriber's tokens another one.
    package func rotate(_ subscriber: Int, planned: Int64) -> ShardCommand {
        .replaceToken(ActivityID(key(of: subscriber)), token: token(of: subscriber, since: planned))
    }

    package func unfollow(_ subscriber: Int) -> ShardCommand { .unfollow(ActivityID(key(of: subscriber))) }

    private func audience(of subscriber: Int, _ random: inout SplitMix64) -> AudienceKey {
        let chosen = followed(by: subscriber, &random)
        guard options.lineups != nil else { return .topic(topics[chosen[0]]) }
        let lineup = chosen.map { topics[$0] }
        return .lineup(lineup, favourite: options.hasFavourites ? lineup.first : nil)
    }

    private func followed(by subscriber: Int, _ random: inout SplitMix64) -> [Int] {
        guard let sizes = options.lineups else {
            return [sharesUpTo.isEmpty ? turn(of: subscriber) : topic(&random)]
        }
        let size = min(topics.count, sizes.lowerBound + number(below: sizes.count, &random))
        var chosen: [Int] = []
        var draws = 0
        while chosen.count < size {
            draws += 1
            // After many draws of popular topics the rest are taken by rank, so that the loop ends.
            let next = draws < 64 * size ? topic(&random) : topics.indices.first { !chosen.contains($0) } ?? 0
            if !chosen.contains(next) { chosen.append(next) }
        }
        return chosen
    }

    /// Equally popular topics take turns over the subscribers of all parts: each topic with one follower has it in one of the parts.
    private func turn(of subscriber: Int) -> Int { (subscriber * parts + part) % topics.count }

    private func number(below count: Int, _ random: inout SplitMix64) -> Int {
        Int(random.next().multipliedFullWidth(by: UInt64(count)).high)
    }

    private func topic(_ random: inout SplitMix64) -> Int {
        guard !sharesUpTo.isEmpty else { return number(below: topics.count, &random) }
        let drawn = Double(random.next() >> 11) * 0x1p-53
        var (low, high) = (0, topics.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sharesUpTo[middle] > drawn { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Number of initial subscribers of each topic, in the order of the topics.
    package func followers() -> [Int] {
        var counts = Array(repeating: 0, count: topics.count)
        guard options.lineups != nil || !sharesUpTo.isEmpty else {
            for subscriber in 0..<initial { counts[turn(of: subscriber)] += 1 }
            return counts
        }
        for subscriber in 0..<initial {
            for topic in followed(by: subscriber) { counts[topic] += 1 }
        }
        return counts
    }

    /// Returns the topics of a subscriber's lineup, or the one topic.
    func followed(by subscriber: Int) -> [Int] {
        var random = SplitMix64(seed: key(of: subscriber))
        _ = random.chance(options.silencedShare)
        return followed(by: subscriber, &random)
    }

    // MARK: Tokens

    /// A token begins with two bytes, `ffff` for a sick one, and the subscriber's number in eight.
    ///
    /// - Parameter planned: moment of the rotation that brought the token; 0 for the first token.
    package func token(of subscriber: Int, since planned: Int64 = 0) -> [UInt8] {
        var random = SplitMix64(seed: key(of: subscriber) ^ 0x746f_6b65_6e ^ UInt64(bitPattern: planned).mixed)
        let head: UInt16 = subscriber < options.sick ? 0xffff : UInt16(truncatingIfNeeded: random.next()) & 0x7fff
        var bytes = [UInt8(truncatingIfNeeded: head >> 8), UInt8(truncatingIfNeeded: head)]
        bytes.reserveCapacity(options.tokenBytes)
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: subscriber >> shift))
        }
        while bytes.count < options.tokenBytes {
            var word = random.next()
            for _ in 0..<min(8, options.tokenBytes - bytes.count) {
                bytes.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
            }
        }
        return bytes
    }

    /// Returns the number of a token's subscriber.
    package static func subscriber(of token: ArraySlice<UInt8>) -> Int {
        token.dropFirst(2).prefix(8).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Is `true` for the share of tokens that a sink answers as dead.
    package func isDead(_ subscriber: Int) -> Bool {
        guard options.deadShare > 0 else { return false }
        var random = SplitMix64(seed: key(of: subscriber) ^ 0x6465_6164)
        return random.chance(options.deadShare)
    }
}

/// The initial subscribers, each with the shard that owns it.
extension Population: InitialActivities {
    package func room(at place: ShardPlace) -> Int {
        topics.isEmpty ? 0 : initial / place.count + initial / (place.count * 16) + 16
    }

    package func read(at place: ShardPlace, _ take: (ShardCommand) -> Void) {
        guard !topics.isEmpty else { return }
        for subscriber in 0..<initial where place.owns(subscriber: key(of: subscriber)) { take(follow(subscriber)) }
    }
}
