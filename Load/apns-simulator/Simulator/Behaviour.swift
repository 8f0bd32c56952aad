/// How a token misbehaves: drawn from the seed and the token alone, so that a run can be repeated, whatever the order and
/// the number of connections.
struct Behaviour {
    let seed: UInt64
    /// Shares from 0 to 1.
    let deadShare: Double
    let throttleShare: Double
    var errorShare: Double
    /// A throttled token takes one push in so many milliseconds.
    let throttleMilliseconds: Int64
    /// By how a token begins, in the order given.
    var mixes: [SimulatorOptions.Mix] = []

    private enum Salt: UInt64 { case dead = 1, kindOfDeath, throttle, error, mix }

    /// `id`: the token's, from the ledger.
    func isDead(_ id: UInt64, _ token: ArraySlice<UInt8>) -> Bool {
        draw(id, .dead) < deadShare || mix(id, token, request: 0, among: { $0.isFarewell }) != nil
    }

    /// What the token's beginning brings upon this request.
    func mix(_ id: UInt64, _ token: ArraySlice<UInt8>, request: UInt32) -> Answer? {
        mix(id, token, request: request, among: { _ in true })
    }

    private func mix(
        _ id: UInt64, _ token: ArraySlice<UInt8>, request: UInt32, among: (Answer) -> Bool
    ) -> Answer? {
        for (index, mix) in mixes.enumerated() where among(mix.answer) && mix.covers(token) {
            // What is said of a token stays said.
            let drawn = id ^ mixed(UInt64(index) << 32 | UInt64(mix.answer.isFarewell ? 0 : request))
            if draw(drawn, .mix) < mix.share { return mix.answer }
        }
        return nil
    }

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
