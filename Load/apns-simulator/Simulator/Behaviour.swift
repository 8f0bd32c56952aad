/// How a token misbehaves: drawn from the seed and the token alone, so that a run can be repeated, whatever the order and
/// the number of connections.
struct Behaviour {
    let seed: UInt64
    /// Shares from 0 to 1.
    let deadShare: Double
    let throttleShare: Double
    let errorShare: Double
    /// A throttled token takes one push in so many milliseconds.
    let throttleMilliseconds: Int64

    private enum Salt: UInt64 { case dead = 1, kindOfDeath, throttle, error }

    /// `id`: the token's, from the ledger.
    func isDead(_ id: UInt64) -> Bool { draw(id, .dead) < deadShare }
    func isThrottled(_ id: UInt64) -> Bool { draw(id, .throttle) < throttleShare }

    /// Live Activity tokens mostly expire; some are unregistered (spec §7).
    func farewell(_ id: UInt64) -> Answer { draw(id, .kindOfDeath) < 0.75 ? .expiredToken : .unregistered }

    /// An error is drawn per request, not per token: the next attempt may succeed.
    func fails(_ id: UInt64, request: UInt32) -> Bool {
        errorShare > 0 && draw(id ^ mixed(UInt64(request)), .error) < errorShare
    }

    private func draw(_ id: UInt64, _ salt: Salt) -> Double {
        Double(mixed(id ^ mixed(seed ^ mixed(salt.rawValue))) >> 11) * 0x1p-53
    }
}
