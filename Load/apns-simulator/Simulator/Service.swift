internal import FanfareLoop

/// Unix seconds and milliseconds since the simulator's start, read once per batch of requests.
struct Instant {
    var unixSeconds: Int64
    var sinceStartMilliseconds: UInt32

    /// 49 days of them, then it begins anew.
    static func milliseconds(since start: Int64) -> UInt32 {
        UInt32(truncatingIfNeeded: (Clock.monotonicNanoseconds() - start) / 1_000_000)
    }
}

/// Decides what is said to a request and records what was accepted. No sockets, no HTTP/2, no clock: one request in, one
/// answer out. Confined to the simulator's loop.
final class Service {
    /// A stamp so far ahead is dropped by phones, as Apple's staff say (spec §3.3).
    static let stampAheadMaxSeconds: Int64 = 8 * 3600
    /// Ours: phones drop old updates, too, but from when on is nowhere fixed; an hour is surely too old.
    static let stampAgeMaxSeconds: Int64 = 3600
    /// Bodies remembered; 2^17 × 80 bytes = 10 MB. When it is full, all are forgotten and read again.
    private static let knownBodiesMax = 1 << 17

    private enum Body {
        case good(RecordedPayload)
        /// Good, and the ledger had no room for its state or alert.
        case unrecordable(event: PayloadFacts.Event, stamp: Int64)
        case bad(PayloadCheck.Fault)
    }

    private let behaviour: Behaviour
    let expected: Expected
    let ledger: Ledger
    private var providerToken: ProviderTokenCheck
    /// Many tokens share one body: it is parsed once.
    private var knownBodies: [Fingerprint: Body] = [:]
    /// The one asked for last: a sweep sends one body many times over.
    private var lastBody: (fingerprint: Fingerprint, body: Body)?
    private(set) var statistics = Statistics()

    init(bundleID: String, behaviour: Behaviour, ledger: Ledger, providerToken: ProviderTokenCheck) {
        self.behaviour = behaviour
        self.ledger = ledger
        self.providerToken = providerToken
        expected = Expected(bundleID: bundleID)
    }

    /// The refusal, or `nil` for a good provider token; asked while the fields arrive, because the value is not kept.
    func checkProviderToken(_ value: UnsafeRawBufferPointer, at now: Instant) -> Answer? {
        providerToken.check(value, now: now.unixSeconds)
    }

    /// The answer, and where the push was recorded when it was accepted.
    func answer(_ head: RequestHead, body: [UInt8], at now: Instant) -> (Answer, EntryIndex?) {
        let (answer, entry) = decide(head, body: body, at: now)
        statistics.count(answer, second: now.sinceStartMilliseconds / 1000)
        return (answer, entry)
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
        if event != .end, now.unixSeconds - stamp > Service.stampAgeMaxSeconds {
            return "aps.timestamp is more than an hour old"
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
    func countGoAway() { statistics.goAways += 1 }
}
