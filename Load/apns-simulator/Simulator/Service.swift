internal import FanfareLoop

/// What the simulator's clock says, read once per batch of requests.
struct Instant {
    var unixSeconds: Int64
    /// 49 days of them, then it begins anew.
    var sinceStartMilliseconds: UInt32
}

/// The simulator's own clock: the machine's at the start, or so many seconds from it. From then on it goes with the monotonic
/// one, as phones and Apple's servers care nothing for what happens to ours.
struct OwnClock {
    let startedNanoseconds = Clock.monotonicNanoseconds()
    private let wallMilliseconds = Clock.wallMilliseconds()
    /// It is ahead of the machine's. Tests let time pass by it.
    var aheadMilliseconds: Int64

    var now: Instant {
        let milliseconds = (Clock.monotonicNanoseconds() - startedNanoseconds) / 1_000_000
        return Instant(
            unixSeconds: (wallMilliseconds + milliseconds + aheadMilliseconds) / 1000,
            sinceStartMilliseconds: UInt32(truncatingIfNeeded: milliseconds))
    }
}

/// Decides what is said to a request and records what was accepted. No sockets, no HTTP/2, no clock: one request in, one
/// answer out. Confined to the simulator's loop.
final class Service {
    /// A stamp so far ahead is dropped by phones, as Apple's staff say (spec §3.3).
    static let stampAheadMaxSeconds: Int64 = 8 * 3600
    /// An older update is dropped by phones.
    private let stampAgeMaxSeconds: Int64
    /// Bodies remembered; 2^17 × 80 bytes = 10 MB. When it is full, all are forgotten and read again.
    private static let knownBodiesMax = 1 << 17

    private enum Body {
        case good(RecordedPayload)
        /// Good, and the ledger had no room for its state or alert.
        case unrecordable(event: PayloadFacts.Event, stamp: Int64)
        case bad(PayloadCheck.Fault)
    }

    var behaviour: Behaviour
    let expected: Expected
    let ledger: Ledger
    private var providerToken: ProviderTokenCheck
    /// Many tokens share one body: it is parsed once.
    private var knownBodies: [Fingerprint: Body] = [:]
    /// The one asked for last: a sweep sends one body many times over.
    private var lastBody: (fingerprint: Fingerprint, body: Body)?
    private(set) var statistics = Statistics()

    init(
        bundleID: String, behaviour: Behaviour, ledger: Ledger, providerToken: ProviderTokenCheck,
        stampAgeMaxSeconds: Int = SimulatorOptions.stampAgeMaxSeconds
    ) {
        self.behaviour = behaviour
        self.stampAgeMaxSeconds = Int64(stampAgeMaxSeconds)
        self.ledger = ledger
        self.providerToken = providerToken
        expected = Expected(bundleID: bundleID)
    }

    /// The refusal, or `nil` for a good provider token; asked while the fields arrive, because the value is not kept.
    func checkProviderToken(
        _ value: UnsafeRawBufferPointer, after past: inout ProviderTokenPast, at now: Instant
    ) -> Answer? {
        providerToken.check(value, after: &past, now: now.unixSeconds)
    }

    /// Provider tokens are signed by this key from now on.
    func trust(_ publicKey: ES256PublicKey) { providerToken.trust { publicKey.verify($1, of: $0) } }

    /// The answer, and where the push was recorded when it was accepted.
    func answer(_ head: RequestHead, body: [UInt8], at now: Instant) -> (Answer, EntryIndex?) {
        let (answer, entry) = decide(head, body: body, at: now)
        statistics.count(answer, second: now.sinceStartMilliseconds / 1000)
        return (answer, entry)
    }

    /// An answer that has nothing to do with the request.
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
        guard let index = ledger.token(head.token) else {
            ledger.countUnrecorded()
            return (.accepted, nil)
        }
        let token = ledger[index]
        if !behaviour.mixes.isEmpty,
            let answer = behaviour.mix(token.id, head.token, request: token.requests)
        {
            return (answer, nil)
        }
        if token.isDead { return (behaviour.farewell(token.id), nil) }
        if behaviour.fails(token.id, request: token.requests) { return (.serviceUnavailable, nil) }
        if token.isThrottled, let last = ledger.lastArrival(index),
            Int64(now.sinceStartMilliseconds) - Int64(last) < behaviour.throttleMilliseconds
        {
            return (.tooManyRequests, nil)
        }
        guard case .good(let payload) = body else {
            ledger.countUnrecorded()
            return (.accepted, nil)
        }
        let entry = ledger.accept(
            index, payload: payload, isImmediate: head.priority == 10, arrival: now.sinceStartMilliseconds)
        return (.accepted, entry)
    }

    private func refuse(_ fault: String) -> (Answer, EntryIndex?) {
        statistics.count(payloadFault: fault)
        return (.badRequestPayload, nil)
    }

    private func fault(_ event: PayloadFacts.Event, _ stamp: Int64, at now: Instant) -> String? {
        if stamp - now.unixSeconds > Service.stampAheadMaxSeconds { return "aps.timestamp is more than 8 h ahead" }
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
        let state = facts.state.flatMap(ledger.intern(state:))
        let alert = facts.alert.flatMap(ledger.intern(alert:))
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
