internal import FanfareLoop
internal import ServerTestSupport

/// A reading of the simulator's clock, one per batch of requests.
struct Instant {
    var unixSeconds: Int64
    /// Milliseconds since the start; wraps around after 49 days.
    var sinceStartMilliseconds: UInt32
}

/// The simulator's own clock: the machine's at the start, plus an offset. It then follows the monotonic clock, because phones and Apple's
/// servers are not affected by changes to the machine's clock.
struct OwnClock {
    let startedNanoseconds = Clock.monotonicNanoseconds()
    private let wallMilliseconds = Clock.wallMilliseconds()
    /// Milliseconds by which the clock is ahead of the machine's. Tests advance time with it.
    var aheadMilliseconds: Int64

    var now: Instant {
        let milliseconds = (Clock.monotonicNanoseconds() - startedNanoseconds) / 1_000_000
        return Instant(
            unixSeconds: (wallMilliseconds + milliseconds + aheadMilliseconds) / 1000,
            sinceStartMilliseconds: UInt32(truncatingIfNeeded: milliseconds))
    }
}

/// A push at the moment at which it is accepted, for a program that has the simulator in itself.
package struct AcceptedPush {
    /// A secret, as everywhere.
    package let token: ArraySlice<UInt8>
    package let isStart: Bool
    /// Number of its alert among the distinct ones, in the order of their first acceptance.
    package let alert: Int?
}

/// Decides the answer to a request and records accepted pushes. Has no sockets, no HTTP/2 and no clock: one request in, one answer out.
/// Confined to the simulator's loop.
final class Service {
    /// Phones drop an update that is older.
    private let stampAgeMaxSeconds: Int64
    /// Most bodies remembered: 2^17 × 80 bytes = 10 MB. When the table is full, all are dropped and parsed again as they come.
    private static let knownBodiesMax = 1 << 17

    private enum Body {
        case good(RecordedPayload)
        /// A good body whose state or alert did not fit among the accepted pushes.
        case unrecordable(event: PayloadFacts.Event, stamp: Int64)
        case bad(PayloadCheck.Fault)
    }

    var behaviour: Behaviour
    /// Called with each push that is accepted.
    var onAccepted: ((AcceptedPush) -> Void)?
    let expected: Expected
    let accepted: AcceptedPushes
    private var providerToken: ProviderTokenCheck
    /// Parsed bodies: many tokens share one body, which is parsed once.
    private var knownBodies: [Fingerprint: Body] = [:]
    /// Body of the previous request: a sweep sends one body many times over.
    private var lastBody: (fingerprint: Fingerprint, body: Body)?
    private(set) var statistics = Statistics()

    init(
        bundleID: String, behaviour: Behaviour, accepted: AcceptedPushes, providerToken: ProviderTokenCheck,
        stampAgeMaxSeconds: Int = SimulatorOptions.stampAgeMaxSeconds
    ) {
        self.behaviour = behaviour
        self.stampAgeMaxSeconds = Int64(stampAgeMaxSeconds)
        self.accepted = accepted
        self.providerToken = providerToken
        expected = Expected(bundleID: bundleID)
    }

    /// Returns the refusal, or `nil` for a good provider token. Called while the fields arrive, because the value is not kept.
    func checkProviderToken(
        _ value: UnsafeRawBufferPointer, after past: inout ProviderTokenPast, at now: Instant
    ) -> Answer? {
        providerToken.check(value, after: &past, now: now.unixSeconds)
    }

    /// Replaces the key that verifies provider tokens.
    func trust(_ publicKey: ES256PublicKey) { providerToken.trust { publicKey.verify($1, of: $0) } }

    /// Returns the answer and, for an accepted push, its entry.
    func answer(_ head: RequestHead, body: [UInt8], at now: Instant) -> (Answer, EntryIndex?) {
        let (answer, entry) = decide(head, body: body, at: now)
        statistics.count(answer, second: now.sinceStartMilliseconds / 1000)
        return (answer, entry)
    }

    /// Counts an answer that does not depend on the request.
    func answer(_ answer: Answer, at now: Instant) -> Answer {
        statistics.count(answer, second: now.sinceStartMilliseconds / 1000)
        return answer
    }

    private func decide(_ head: RequestHead, body: [UInt8], at now: Instant) -> (Answer, EntryIndex?) {
        if let refusal = head.refusal { return (refusal, nil) }
        if body.isEmpty { return (.payloadEmpty, nil) }
        if body.count > PayloadCheck.bodyBytesMax { return (.payloadTooLarge, nil) }
        let body = known(body)
        switch body {
        case .bad(let fault): return refuse(fault.text)
        case .good(let payload): if let fault = fault(payload.event, payload.stamp, at: now) { return refuse(fault) }
        case .unrecordable(let event, let stamp): if let fault = fault(event, stamp, at: now) { return refuse(fault) }
        }
        guard let index = accepted.token(head.token) else {
            accepted.countUnrecorded()
            return (.accepted, nil)
        }
        let token = accepted[index]
        if !behaviour.mixes.isEmpty,
            let answer = behaviour.mix(token.id, head.token, request: token.requests)
        {
            return (answer, nil)
        }
        if token.isDead { return (behaviour.deadTokenAnswer(token.id), nil) }
        if behaviour.fails(token.id, request: token.requests) { return (.serviceUnavailable, nil) }
        if token.isThrottled, let last = accepted.lastArrival(index),
            Int64(now.sinceStartMilliseconds) - Int64(last) < behaviour.throttleMilliseconds
        {
            return (.tooManyRequests, nil)
        }
        guard case .good(let payload) = body else {
            accepted.countUnrecorded()
            return (.accepted, nil)
        }
        let entry = accepted.accept(
            index, payload: payload, isImmediate: head.priority == 10, arrival: now.sinceStartMilliseconds)
        onAccepted?(
            AcceptedPush(
                token: head.token, isStart: payload.event == .start, alert: payload.alert.map { Int($0.rawValue) }))
        return (.accepted, entry)
    }

    private func refuse(_ fault: String) -> (Answer, EntryIndex?) {
        statistics.count(payloadFault: fault)
        return (.badRequestPayload, nil)
    }

    private func fault(_ event: PayloadFacts.Event, _ stamp: Int64, at now: Instant) -> String? {
        if stamp - now.unixSeconds > PayloadCheck.stampAheadMaxSeconds { return "aps.timestamp is more than 8 h ahead" }
        // An end with an old stamp has been seen to work (spec §3.3).
        if event != .end, now.unixSeconds - stamp > stampAgeMaxSeconds {
            return "aps.timestamp is more than \(stampAgeMaxSeconds) s old"
        }
        return nil
    }

    private func known(_ body: [UInt8]) -> Body {
        let fingerprint = body.withUnsafeBytes { Fingerprint($0, seed: 1) }
        if let lastBody, lastBody.fingerprint == fingerprint { return lastBody.body }
        if let known = knownBodies[fingerprint] {
            lastBody = (fingerprint, known)
            return known
        }
        let result = read(body)
        if knownBodies.count >= Service.knownBodiesMax { knownBodies.removeAll(keepingCapacity: true) }
        knownBodies[fingerprint] = result
        return result
    }

    private func read(_ body: [UInt8]) -> Body {
        let facts: PayloadFacts
        do { facts = try PayloadCheck.read(body) } catch { return .bad(error) }
        let state = facts.state.flatMap(accepted.intern(state:))
        let alert = facts.alert.flatMap(accepted.intern(alert:))
        guard (facts.state == nil) == (state == nil), (facts.alert == nil) == (alert == nil) else {
            return .unrecordable(event: facts.event, stamp: facts.stamp)
        }
        return .good(RecordedPayload(event: facts.event, stamp: facts.stamp, state: state, alert: alert))
    }

    func countUnanswered() { statistics.unanswered += 1 }
    func countConnection() { statistics.connections += 1 }
    func countLostConnection() { statistics.connectionsLost += 1 }
    func count(_ reset: StreamReset) {
        switch reset {
        case .refused: statistics.refusedStreams += 1
        case .failed: statistics.failedStreams += 1
        }
    }
    func countRefusedConnection() { statistics.connectionsRefused += 1 }
    func countSilence() { statistics.connectionsSilent += 1 }
    func countWedged() { statistics.connectionsWedged += 1 }
    func countGoAway() { statistics.goAways += 1 }
}
