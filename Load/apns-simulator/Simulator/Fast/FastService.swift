/// Answers and counters of a fast simulator. Confined to the simulator's loop.
final class FastService {
    private let behaviour: Behaviour
    private let hasDead: Bool
    private(set) var statistics = Statistics()
    private(set) var tokens = TokenCounts()
    /// Fingerprints of accepted pushes that are not yet counted. Looked up together, their cache misses in a large table overlap.
    private var accepted: [UInt64] = []
    /// Seconds since the start, read once for many requests.
    var second: UInt32 = 0

    init(seed: UInt64, deadShare: Double) {
        behaviour = Behaviour(
            seed: seed, deadShare: deadShare, throttleShare: 0, errorShare: 0, throttleMilliseconds: 1)
        hasDead = deadShare > 0
    }

    /// - Parameters:
    ///   - token: the token's fingerprint.
    ///   - refusal: the head's fault, if any.
    func answer(token: UInt64, refusal: Answer?, bodyBytes: Int) -> Answer {
        let answer = decide(token, refusal, bodyBytes)
        statistics.count(answer, second: second)
        if answer == .accepted { accepted.append(token) }
        return answer
    }

    private func decide(_ token: UInt64, _ refusal: Answer?, _ bodyBytes: Int) -> Answer {
        if let refusal { return refusal }
        if bodyBytes == 0 { return .payloadEmpty }
        if bodyBytes > PayloadCheck.bodyBytesMax { return .payloadTooLarge }
        if hasDead, behaviour.isDead(token, []) { return behaviour.deadTokenAnswer(token) }
        return .accepted
    }

    /// Counts the pushes accepted since the last call.
    func countAccepted() {
        tokens.count(accepted)
        accepted.removeAll(keepingCapacity: true)
    }

    func countConnection() { statistics.connections += 1 }
    func countUnanswered(_ count: Int) { statistics.unanswered += count }
}

/// Number of accepted pushes per token: 16 bytes per place, at most half of the places taken. One million tokens take 32 MB.
struct TokenCounts {
    private struct Place {
        /// The token's fingerprint; a place with a `count` of 0 is free.
        var token: UInt64 = 0
        var count: UInt64 = 0
    }

    /// Most tokens counted one by one: 16 M, which take 512 MB. Pushes to further tokens are counted together.
    private static let tokensMax = 1 << 24

    /// Hash table with open addressing and linear probing.
    private var places = [Place](repeating: Place(), count: 1 << 10)
    private(set) var tokens = 0

    mutating func count(_ tokens: [UInt64]) {
        for token in tokens {
            let place = place(of: token)
            if places[place].count == 0 {
                guard self.tokens < TokenCounts.tokensMax else { continue }
                places[place].token = token
                self.tokens += 1
            }
            places[place].count += 1
            if 2 * self.tokens > places.count { grow() }
        }
    }

    subscript(token: UInt64) -> Int { Int(places[place(of: token)].count) }

    /// The fewest and the most pushes that one token accepted; `nil` without any.
    var range: ClosedRange<Int>? {
        var counts = places.lazy.filter { $0.count > 0 }.map { Int($0.count) }.makeIterator()
        guard let first = counts.next() else { return nil }
        var (fewest, most) = (first, first)
        while let count = counts.next() { (fewest, most) = (min(fewest, count), max(most, count)) }
        return fewest...most
    }

    private func place(of token: UInt64) -> Int {
        var place = Int(truncatingIfNeeded: token) & (places.count - 1)
        while places[place].count > 0, places[place].token != token { place = (place + 1) & (places.count - 1) }
        return place
    }

    private mutating func grow() {
        let old = places
        places = [Place](repeating: Place(), count: 2 * old.count)
        for entry in old where entry.count > 0 { places[place(of: entry.token)] = entry }
    }
}
