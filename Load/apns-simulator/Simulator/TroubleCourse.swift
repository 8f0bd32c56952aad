internal import ServerTestSupport

/// The course of a simulator's trouble, which its seed and the number of its requests decide.
struct TroubleCourse {
    private let seed: UInt64
    private var draws: UInt64 = 0
    private(set) var requests = 0
    /// Changes of the key by the number of requests after which they take effect.
    private var keyChanges: [Int: ES256PublicKey] = [:]

    init(seed: UInt64) { self.seed = seed }

    mutating func draw() -> UInt64 {
        draws &+= 1
        return mixed(seed ^ mixed(draws))
    }

    mutating func change(to key: ES256PublicKey, afterRequests count: Int) { keyChanges[count] = key }

    /// Counts a request.
    ///
    /// - Returns: the key that takes effect behind it; `nil` if the key stays.
    mutating func countRequest() -> ES256PublicKey? {
        requests += 1
        return keyChanges.isEmpty ? nil : keyChanges[requests]
    }
}
