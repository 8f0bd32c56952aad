import FanfareCore
import FanfareHTTP2

/// What became of requests, and what people are told about it.
extension ConnectionPool {
    /// Why nothing is being delivered, for whoever decides how long to put up with it.
    public struct Trouble: Sendable, Equatable {
        public enum Kind: Sendable { case connection, configuration, service }
        public let kind: Kind
        /// One line: what, where, what to do.
        public let text: String
        /// Monotonic nanoseconds.
        public let since: Int64
    }

    private func finish(_ request: RequestTable.Request, _ outcome: DeliveryOutcome) {
        inFlight -= 1
        completions.append(Completion(slot: request.slot, generation: request.generation, outcome: outcome))
    }

    func accepted(_ request: RequestTable.Request) {
        statistics.accepted += 1
        gate.accepted()
        if trouble != nil { trouble = nil }
        finish(request, .accepted)
    }

    func notProcessed(_ request: RequestTable.Request) {
        statistics.notProcessed += 1
        finish(request, .notProcessed)
    }

    func lost(_ request: RequestTable.Request) {
        statistics.uncertain += 1
        finish(request, .unknown)
    }

    /// Without a pause, a server that resets everything would be asked again at the speed of the round trip.
    func requestWasReset(_ code: ErrorCode, at moment: Moment) {
        let now = moment.monotonicNanoseconds
        guard gate.trouble(at: now, using: &random) != nil else { return }
        let text = "\(configuration.endpoint) resets requests (\(code)); pushes wait and go on when it recovers"
        trouble(.service, text, at: now)
    }

    func refused(
        _ request: RequestTable.Request, status: Int, body: ErrorBody, on connection: Connection, at moment: Moment
    ) {
        let now = moment.monotonicNanoseconds
        let rule = ResponseRule.rule(status: status, reason: body.reason)
        let isFirst = statistics.count(status: status, reason: rule.reason)
        let answer = "\(configuration.endpoint) answers \(status) \(rule.reason)"
        switch rule.class {
        case .accepted: accepted(request)  // 200 does not come here
        case .deadToken:
            connection.proved()
            statistics.dead += 1
            finish(request, .deadToken)
        case .throttled:
            connection.proved()
            statistics.throttled += 1
            finish(request, .throttled)
        case .retryLater:
            notProcessed(request)
            if gate.trouble(at: now, using: &random) != nil {
                trouble(.service, "\(answer); pushes wait and go on when it recovers", at: now)
            }
        case .reconnect:
            notProcessed(request)
            if isFirst { report("\(answer); the connection is replaced", at: now) }
            replace(connection, at: moment)
        case .refreshToken:
            notProcessed(request)
            refreshToken(request, on: connection, answer, at: moment)
        case .configurationFault:
            statistics.failed += 1
            finish(request, .refused)
            let text = rule.advice.map { "\(answer): \($0)" } ?? answer
            if isFirst { report(text, at: now) }
            if gate.fault(at: now) { stopped(text, at: now) }
        case .requestFault:
            statistics.failed += 1
            finish(request, .refused)
            if isFirst { report("\(answer): such pushes are given up", at: now) }
        }
    }

    private func refreshToken(
        _ request: RequestTable.Request, on connection: Connection, _ answer: String, at moment: Moment
    ) {
        let now = moment.monotonicNanoseconds
        do {
            if try credentials.expired(serial: request.tokenSerial, wallSeconds: moment.wallSeconds) {
                // Some of APNs' servers go on refusing on a connection that has seen an expired JWT (spec §7).
                replace(connection, at: moment)
            } else if gate.fault(at: now) {
                stopped("\(answer) to a JWT minted just now: check this machine's clock", at: now)
            }
        } catch {
            couldNotSign(error, at: now)
        }
    }

    // MARK: Telling people

    func couldNotSign(_ error: any Error, at now: Int64) {
        gate.shut(at: now)
        stopped("no JWT could be signed: \(error)", at: now)
    }

    /// Every push would fail alike until a person acts.
    private func stopped(_ text: String, at now: Int64) {
        trouble(.configuration, "\(text); pushing has stopped, one is tried each minute", at: now)
    }

    func trouble(_ kind: Trouble.Kind, _ text: String, at now: Int64) {
        trouble = Trouble(kind: kind, text: text, since: trouble?.since ?? now)
        report(text, at: now)
    }

    func report(_ text: String, at now: Int64) {
        if let line = reports.admit(text, at: now) { onReport(line) }
    }
}
