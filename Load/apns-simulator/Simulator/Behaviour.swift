/// Misbehaviour of a token, drawn from the seed and the token alone: a run can be repeated, whatever the
/// order of requests and the number of connections.
struct Behaviour {
    let seed: UInt64
    /// Share of dead tokens, 0–1; `throttleShare` and `errorShare` likewise.
    let deadShare: Double
    let throttleShare: Double
    var errorShare: Double
    /// Milliseconds between two pushes that a throttled token accepts.
    let throttleMilliseconds: Int64
    /// Answers by prefix of the token, in the order given.
    var mixes: [AnswerMix] = []

    private enum Salt: UInt64 { case dead = 1, kindOfDeath, throttle, error, mix }

    /// - Parameter id: the token's id among the accepted pushes.
    func isDead(_ id: UInt64, _ token: ArraySlice<UInt8>) -> Bool {
        draw(id, .dead) < deadShare || mix(id, token, request: 0, among: { $0.isOfDeadToken }) != nil
    }

    /// Returns the answer that the token's prefix brings for this request; `nil` for none.
    func mix(_ id: UInt64, _ token: ArraySlice<UInt8>, request: UInt32) -> Answer? {
        mix(id, token, request: request, among: { _ in true })
    }

    private func mix(
        _ id: UInt64, _ token: ArraySlice<UInt8>, request: UInt32, among: (Answer) -> Bool
    ) -> Answer? {
        for (index, mix) in mixes.enumerated() where among(mix.answer) && mix.covers(token) {
            // An answer about the token is drawn once per token, any other one per request.
            let drawn = id ^ mixed(UInt64(index) << 32 | UInt64(mix.answer.isOfDeadToken ? 0 : request))
            if draw(drawn, .mix) < mix.share { return mix.answer }
        }
        return nil
    }

    func isThrottled(_ id: UInt64) -> Bool { draw(id, .throttle) < throttleShare }

    /// Returns the answer for a dead token: most Live Activity tokens expire, some are unregistered (spec §7).
    func deadTokenAnswer(_ id: UInt64) -> Answer { draw(id, .kindOfDeath) < 0.75 ? .expiredToken : .unregistered }

    /// Draws an error per request, not per token, so the next attempt may succeed.
    func fails(_ id: UInt64, request: UInt32) -> Bool {
        errorShare > 0 && draw(id ^ mixed(UInt64(request)), .error) < errorShare
    }

    private func draw(_ id: UInt64, _ salt: Salt) -> Double {
        Double(mixed(id ^ mixed(seed ^ mixed(salt.rawValue))) >> 11) * 0x1p-53
    }
}
