import FanfareHTTP2
import FanfareLoop
import FanfareModel

/// Finds an address of the host that speaks HTTP/2, by RFC 8305 ("happy eyeballs").
///
/// The name is looked up afresh, because APNs spreads load by DNS. The addresses that were good last are tried as well:
/// while the name servers are slow or silent, and after all addresses that they have returned. Attempts begin one after the
/// other, each a quarter of a second after the one before, or at once when that has failed. The first attempt on which the
/// peer's SETTINGS arrive wins, and the others are closed. So an address that leads nowhere, or a family of addresses that
/// this machine lacks, costs a moment and not the connection.
///
/// Each attempt has its own session, because output for one address and half-read input are useless for another. The dialer
/// calls `onOpened` or `onFailed` once, on the loop. It never blocks: the connection calls `tick` no later than `nextDeadline`.
final class Dialer {
    /// An attempt to connect to one address.
    final class Attempt {
        let stream: TLSStream
        var session: ClientSession
        let address: SocketAddress
        fileprivate let began: MonotonicTime

        fileprivate init(to address: SocketAddress, for pool: any DialingPool, at now: MonotonicTime) throws(LoopError)
        {
            let endpoint = pool.configuration.endpoint
            var random = SystemRandomNumberGenerator()
            let tcp = try TCPStream(loop: pool.loop)
            tcp.connect(to: address, name: endpoint.host)
            do {
                stream = try TLSStream(
                    over: tcp, context: pool.knownEndpoint.context, host: endpoint.serverName ?? endpoint.host,
                    wallSeconds: pool.knownEndpoint.certificateTime(at: pool.now(), using: &random))
            } catch {
                tcp.close()
                throw error
            }
            session = ClientSession(configuration: ClientSession.Configuration())
            session.streamLimit = 1
            self.address = address
            began = now
        }

        fileprivate func flush() {
            unsafe session.withOutput { unsafe stream.write($0) }
            session.take(session.outputCount)
        }
    }

    /// Time between the starts of two attempts: the "Connection Attempt Delay" of RFC 8305 §5.
    static let attemptDelay = Duration.milliseconds(250)
    /// Time for which the next attempt waits for one that has established TCP, because handshakes cost servers something.
    static let handshakePatience = Duration.seconds(2)
    /// Time after which the addresses that were good last are tried without the name server's answer. A later answer is still used.
    static let lookupPatience = Duration.seconds(2)

    var onOpened: ((Attempt) -> Void)?
    var onFailed: ((ConnectionEnding) -> Void)?

    private unowned let pool: any DialingPool
    private var lookup: Resolver.Lookup?
    /// Deadline of the look-up.
    private var lookupEnds = MonotonicTime.never
    /// Time at which the addresses that were good last are tried without the look-up's answer; `.never` from then on.
    private var lookupIsSlowAt = MonotonicTime.never
    /// Addresses in the resolver's order.
    private var found: [SocketAddress] = []
    /// Addresses that were good last, until they join the others.
    private var spare: [SocketAddress] = []
    /// Addresses not yet tried, in order.
    private var untried: ArraySlice<SocketAddress> = []
    private var tried: Set<SocketAddress> = []
    private var attempts: [Attempt] = []
    private var nextAttemptAt = MonotonicTime.never
    /// Reason to report when no address is left. The fault of a server that answered takes precedence over an address that
    /// was tried beside it.
    private var complaint = ""
    private var isServerAtFault = false
    /// `true` if an attempt failed because this process may open no more files.
    private var isOutOfFiles = false

    init(pool: any DialingPool) { self.pool = pool }

    // A dropped pool that was not closed must not be called back.
    deinit { close() }

    /// Ends without calling back.
    func close() {
        onOpened = nil
        onFailed = nil
        lookup?.cancel()
        lookup = nil
        untried = []
        for attempt in attempts { attempt.stream.close() }
        attempts = []
        nextAttemptAt = .never
    }

    // MARK: The name

    func start(at now: MonotonicTime) {
        let configuration = pool.configuration
        spare = pool.knownEndpoint.goodAddresses
        lookupEnds = now + configuration.connectTimeout
        if !spare.isEmpty { lookupIsSlowAt = now + Dialer.lookupPatience }
        do throws(LoopError) {
            lookup = try configuration.resolver.resolve(
                loop: pool.loop, host: configuration.endpoint.host, port: configuration.endpoint.port
            ) { [unowned self] in self.resolved($0) }
        } catch {
            lookupFailed("\(error)", at: now)
        }
    }

    private func resolved(_ answer: Resolver.Answer) {
        let now = pool.now().monotonic
        switch answer {
        case .success(let addresses):
            endLookup()
            found = addresses
            race(addresses, at: now)
        case .failure(let error):
            note(error)
            lookupFailed("\(error)", at: now)
        }
    }

    private func lookupFailed(_ text: String, at now: MonotonicTime) {
        endLookup()
        // The failure of an address says more than that of the look-up.
        if tried.isEmpty { complaint = text }
        if spare.isEmpty { raceOn(at: now) } else { raceSpare("\(text); trying", at: now) }
    }

    private func endLookup() {
        lookup?.cancel()
        lookup = nil
        lookupIsSlowAt = .never
    }

    // MARK: The addresses

    /// Returns the addresses in the order of attempts (RFC 8305 §4): the families alternate, the system's preferred one (RFC 6724)
    /// first. A family keeps the resolver's order, but starts at random and wraps around, so that many connections spread over a
    /// host's addresses. Addresses in doubt follow the others of their family, and a family of nothing else follows the other one.
    static func order(
        _ found: [SocketAddress], using random: inout some RandomNumberGenerator,
        isInDoubt: (SocketAddress) -> Bool = { _ in false }
    ) -> [SocketAddress] {
        guard let preferred = found.first else { return [] }
        var families = [
            found.filter { $0.isIPv6 == preferred.isIPv6 }, found.filter { $0.isIPv6 != preferred.isIPv6 },
        ]
        for index in families.indices where families[index].count > 1 {
            let start = Int.random(in: families[index].indices, using: &random)
            families[index] = Array(families[index][start...] + families[index][..<start])
            families[index] = families[index].filter { !isInDoubt($0) } + families[index].filter(isInDoubt)
        }
        if families[0].allSatisfy(isInDoubt), !families[1].allSatisfy(isInDoubt) { families.swapAt(0, 1) }
        let rounds = max(families[0].count, families[1].count)
        return (0..<rounds).flatMap { round in families.compactMap { round < $0.count ? $0[round] : nil } }
    }

    /// Appends the new addresses to those not yet tried.
    private func race(_ addresses: [SocketAddress], at now: MonotonicTime) {
        let known = pool.knownEndpoint
        var random = SystemRandomNumberGenerator()
        untried += Dialer.order(
            addresses.filter { !tried.contains($0) && !untried.contains($0) }, using: &random,
            isInDoubt: { known.isInDoubt($0, at: now) })
        raceOn(at: now)
    }

    private func raceSpare(_ why: String, at now: MonotonicTime) {
        pool.report("\(why) the addresses that were good last", at: now)
        lookupIsSlowAt = .never
        let addresses = spare
        spare = []
        race(addresses, at: now)
    }

    /// Begins the next attempt, unless one has just begun and still has its time.
    private func raceOn(at now: MonotonicTime) { if attempts.isEmpty || nextAttemptAt == .never { tryNext(at: now) } }

    private func tryNext(at now: MonotonicTime) {
        guard let address = untried.popFirst() else {
            nextAttemptAt = .never
            guard attempts.isEmpty, lookup == nil else { return }
            let rest = spare.filter { !tried.contains($0) }
            return rest.isEmpty ? finish(complaint) : raceSpare("\(complaint); trying", at: now)
        }
        tried.insert(address)
        nextAttemptAt = now + Dialer.attemptDelay
        do throws(LoopError) {
            let attempt = try Attempt(to: address, for: pool, at: now)
            attempts.append(attempt)
            let stream = attempt.stream
            stream.onReady = { [unowned self, unowned attempt] in self.secured(attempt, alpn: $0) }
            unsafe stream.onRead = { [unowned self, unowned attempt] in unsafe self.received($0, on: attempt) }
            stream.onClose = { [unowned self, unowned attempt] in self.closed(attempt, $0) }
            // An answer or a failure may have led here, after which no other code arms the timer.
            pool.deadlinesChanged()
        } catch {
            note(error)
            complain("\(error)", ofServerAt: address)
            tryNext(at: now)
        }
    }

    private func secured(_ attempt: Attempt, alpn: String?) {
        guard alpn == "h2" else {
            return fail(
                attempt, "\(pool.configuration.endpoint): the server does not offer HTTP/2 (ALPN h2)", isOfServer: true)
        }
        attempt.flush()
    }

    private func received(_ bytes: UnsafeRawBufferPointer, on attempt: Attempt) {
        unsafe attempt.session.receive(bytes)
        if attempt.session.settingsReceived { return win(attempt) }
        guard attempt.session.state == .closed else { return attempt.flush() }
        var batch = EventBatch()
        attempt.session.takeEvents(into: &batch)
        var reason = ""
        for case .failed(_, let text) in batch.events { reason = batch.text(text) }
        attempt.flush()  // the GOAWAY that tells the peer why
        fail(attempt, "\(pool.configuration.endpoint): the server broke HTTP/2: \(reason)", isOfServer: true)
    }

    private func note(_ error: LoopError) {
        if error.kind == .tooManyFiles { isOutOfFiles = true }
        if error.kind == .certificate { pool.knownEndpoint.doubtCertificate() }
    }

    private func closed(_ attempt: Attempt, _ error: LoopError?) {
        if let error { note(error) }
        let isOfServer =
            switch error?.kind {
            // Every server of the host would show the same certificate, and speak TLS as badly, if the address is the host's.
            case .certificate, .tls, .badKey: true
            default: false
            }
        fail(
            attempt, error.map { "\($0)" } ?? "\(pool.configuration.endpoint): closed by the server",
            isOfServer: isOfServer)
    }

    private func win(_ attempt: Attempt) {
        let onOpened = self.onOpened
        // The look-up's addresses are good if one of them won; otherwise the former good addresses still are.
        if found.contains(attempt.address) { pool.knownEndpoint.noteGood(found) }
        attempts.removeAll { $0 === attempt }
        close()
        onOpened?(attempt)
    }

    private func fail(_ attempt: Attempt, _ text: String, isOfServer: Bool = false) {
        attempt.stream.close()
        attempts.removeAll { $0 === attempt }
        complain(text, ofServerAt: isOfServer ? attempt.address : nil)
        tryNext(at: pool.now().monotonic)
    }

    /// Records a failure. A server at fault removes the untried addresses of its family, which would hardly do better;
    /// attempts that have begun go on. The other family may lead elsewhere: one wrong entry, or an intermediary that answers
    /// for a whole family, is enough to cause the fault.
    private func complain(_ text: String, ofServerAt address: SocketAddress?) {
        if address != nil || !isServerAtFault { complaint = text }
        guard let address else { return }
        isServerAtFault = true
        untried.removeAll { $0.isIPv6 == address.isIPv6 }
    }

    private func finish(_ text: String) {
        let onFailed = self.onFailed
        close()
        onFailed?(isOutOfFiles ? .outOfFiles(text) : .notOpened(text))
    }

    // MARK: Time

    var nextDeadline: MonotonicTime {
        let timeout = pool.configuration.connectTimeout
        let asking = lookup == nil ? .never : min(lookupIsSlowAt, lookupEnds)
        return attempts.reduce(min(nextAttemptAt, asking)) { min($0, $1.began + timeout) }
    }

    func tick(at now: MonotonicTime) {
        if lookup != nil, now >= min(lookupIsSlowAt, lookupEnds) {
            let text = "\(pool.configuration.endpoint): the name server does not answer"
            if now >= lookupEnds { lookupFailed(text, at: now) } else { raceSpare("\(text); trying", at: now) }
        }
        let timeout = pool.configuration.connectTimeout
        for attempt in attempts where now >= attempt.began + timeout {
            fail(attempt, "\(pool.configuration.endpoint): no answer while connecting")
        }
        guard now >= nextAttemptAt else { return }
        let connected = attempts.lazy.filter { $0.stream.isConnected }.map { $0.began + Dialer.handshakePatience }.max()
        if let connected, now < connected { nextAttemptAt = connected } else { tryNext(at: now) }
    }
}
