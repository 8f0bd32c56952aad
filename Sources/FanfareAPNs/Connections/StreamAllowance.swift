import FanfareModel

/// Number of concurrent requests that a connection's peer allows, which it may change at any time (RFC 9113 §5.1.2).
///
/// A lower number than before is a sign that the peer wants us to be slower; after a while it counts as the normal one.
struct StreamAllowance {
    /// Number that the peer allows now.
    private var present = 0
    /// Largest number since the present one counts as normal.
    private var most = 0
    /// Time at which the peer last lowered the number.
    private var cutAt: MonotonicTime?
    /// Deadline of a peer that allows no request at all; `.never` while it allows some.
    private(set) var noneEnds = MonotonicTime.never
    /// Time after which a lowered number counts as normal.
    static let cutTime = Duration.seconds(60)

    mutating func note(_ allowed: Int, at now: MonotonicTime) {
        let normal = normal(at: now) ?? 0
        if allowed < present { cutAt = now }
        present = allowed
        most = max(normal, allowed)
    }

    /// Notes whether the peer allows any request.
    ///
    /// - Parameter patience: time within which the peer must allow one.
    mutating func note(allowsAny: Bool, patience: Duration, at now: MonotonicTime) {
        if allowsAny { noneEnds = .never } else if noneEnds == .never { noneEnds = now + patience }
    }

    /// Returns the number that the peer normally allows; `nil` before it is known. APNs allows one request with token authentication until it has
    /// seen a push, and its real number afterwards (spec §10).
    func normal(at now: MonotonicTime) -> Int? {
        if present > 1, !isCut(at: now) { return present }
        return most > 1 ? most : nil
    }

    /// Returns `true` while the peer allows fewer requests than it did a moment ago.
    func isReduced(at now: MonotonicTime) -> Bool { most > 1 && present < most && isCut(at: now) }

    private func isCut(at now: MonotonicTime) -> Bool { cutAt.map { now - $0 < StreamAllowance.cutTime } ?? false }

    /// Describes a present number above the largest one; `nil` if there is none. For tests.
    func violation() -> String? { present <= most ? nil : "\(present) requests allowed, \(most) at most" }
}
